"""Final marks as files that learning platforms take."""
