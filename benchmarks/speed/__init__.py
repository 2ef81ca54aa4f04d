"""Speed targets. Each is a ratio to a reference that is measured in the same run."""
