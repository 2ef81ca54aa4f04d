"""Speed targets, each measured beside its reference in the same run."""
