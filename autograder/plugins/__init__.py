"""Where the course meets other programs: one file for each, the only one that knows it."""
