"""Score methods and generators on folders of benchmark sets."""
