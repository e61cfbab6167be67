"""Where the course computes: one line that picks a GPU when there is one."""

import torch


def pick_device() -> torch.device:
    """Return the CUDA device if torch sees one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
