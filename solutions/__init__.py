"""The reference library: torch in, torch out, no I/O, no globals. A module belongs to one chapter."""
