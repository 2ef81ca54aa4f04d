"""Read, code and check user input; nothing else in the library does."""
