"""The zip for the students of a graded course: a chapter's notebook and a check without answers."""
