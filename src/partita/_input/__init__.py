"""The only place where user input is read, coded and checked."""
