"""A report as something to read."""
