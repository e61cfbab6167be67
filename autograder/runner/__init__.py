"""What runs student code: a warm parent without secrets, and the sealed sessions that it forks."""
