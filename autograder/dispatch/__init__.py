"""Many submissions over many workers, and none of them lost."""
