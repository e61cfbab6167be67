"""The student's side of the wall."""
