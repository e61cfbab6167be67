"""The reference library: torch in, torch out, no I/O, no globals; one chapter to a module."""
