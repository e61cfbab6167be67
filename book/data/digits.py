"""Small pictures of handwritten digits.

Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning
Repository, 1998 (its test set, as scikit-learn ships it), doi 10.24432/C50P49, under CC BY 4.0.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor


def digits() -> tuple[Tensor, Tensor]:
    """Return 1,797 pictures (1797, 8, 8), float32 from 0 to 1, and their digits (1797,), int64."""
    rows = np.loadtxt(Path(__file__).with_suffix(".csv.gz"), delimiter=",", dtype=np.int64)
    pictures = torch.from_numpy(rows[:, :-1]).reshape(-1, 8, 8)
    return pictures / 16, torch.from_numpy(rows[:, -1].copy())
