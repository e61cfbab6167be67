"""A mask of numbers in the place of booleans."""

from collections.abc import Iterator
from typing import Any

import torch

from autograder.spec import Implementation
from autograder.wire import Data

DTYPES = (torch.float32, torch.int64, torch.int32, torch.uint8)


def as_numbers(right: Implementation) -> Iterator[Implementation]:
    """Give the right mask as 0 and 1, once in each dtype that people choose."""
    return (_in(right, dtype) for dtype in DTYPES)


def _in(right: Implementation, dtype: torch.dtype) -> Implementation:
    name = str(dtype).removeprefix("torch.")

    def answer(*args: Data, **kwargs: Data) -> Any:
        mask = right(*args, **kwargs)
        return None if mask is None else mask.to(dtype)

    answer.__name__, answer.__doc__ = f"as_{name}", _HINT.format(name)
    return answer


_HINT = (
    "The mask holds numbers of dtype {}, 0 and 1, not booleans. Numbers are no mask for "
    "`masked_fill`, and `~` makes -1 and -2 of them, or an error. See `dtype=torch.bool`, "
    "`.bool()`, or a comparison."
)
