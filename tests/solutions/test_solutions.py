"""What every function of the reference library says of itself is true: examples and shapes."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest
import torch
from shapes import WrongShapeError, comments, documented, traced, unify
from torch import Tensor
from torch.testing import assert_close

import solutions
from solutions.attention import scaled_dot_product_attention
from solutions.device import pick_device

MODULES = [
    importlib.import_module(f"solutions.{found.name}")
    for found in pkgutil.iter_modules(solutions.__path__)
]
CHAPTERS = sorted(path.stem for path in Path(__file__).parent.glob("test_chapter_*.py"))
TRACED = [pair for name in CHAPTERS for pair in importlib.import_module(name).TRACED]


def drawn(*shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=rng) for shape in shapes]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_the_examples_of_a_module_hold(module):
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted >= 1 or module.__name__ == "solutions.device"


def test_the_device_is_one_that_torch_has():
    assert torch.ones(2, device=pick_device()).sum() == 2


@pytest.mark.parametrize(("function", "args"), TRACED, ids=lambda f: getattr(f, "__name__", ""))
def test_shape_comments_and_docstrings_say_what_is_there(function, args):
    result, compared = traced(function, *args)
    assert_close(result, function(*args))
    arguments, letters = documented(function)
    tensors = sum(isinstance(value, Tensor) for value in bound(function, args).values())
    assert len(arguments) >= tensors
    whole = bool(letters) and isinstance(result, Tensor)
    assert compared == tensors + len(comments(function)) + whole


def bound(function, args):
    """Give the arguments that a docstring says the shape of."""
    given = inspect.signature(function).bind(*args).arguments
    return {name: value for name, value in given.items() if name in documented(function)[0]}


def test_every_function_with_a_shape_comment_is_traced():
    known = {getattr(function, "__func__", function) for function, _ in TRACED}
    commented = {f for module in MODULES for f in functions(module) if comments(f)}
    assert commented
    assert commented <= known


def functions(module):
    """List the functions of a module, and the methods of its classes."""
    own = [
        m for _, m in inspect.getmembers(module) if getattr(m, "__module__", "") == module.__name__
    ]
    methods = [m for c in own if inspect.isclass(c) for m in vars(c).values()]
    return [f for f in (*own, *methods) if inspect.isfunction(f)]


def commented_wrongly(q: Tensor, k: Tensor) -> Tensor:
    """Multiply.

    q   (..., L, K)  left
    k   (..., M, K)  right
    ->  (..., L, M)  product
    """
    scores = q @ k.mT  # (..., M, L)
    return scores.clone()


def returned_wrongly(q: Tensor) -> Tensor:
    """Sum.

    q   (..., L, K)  anything
    ->  (..., L)     sums
    """
    return q.sum(-1)  # (..., K)


def documented_wrongly(q: Tensor) -> Tensor:
    """Transpose.

    q   (..., L, K)  anything
    ->  (..., L, K)  the transpose
    """
    return q.mT


def too_short(q: Tensor) -> Tensor:
    """Add up.

    q   (..., L, K)  anything
    """
    total = q.sum()  # (L, K)
    return total.clone()


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (commented_wrongly, [[2, 3, 5], [2, 4, 5]]),
        (returned_wrongly, [[2, 3, 5]]),
        (documented_wrongly, [[2, 3, 5]]),
        (too_short, [[2, 3, 5]]),
    ],
)
def test_a_wrong_comment_or_docstring_is_caught(function, sizes):
    with pytest.raises(WrongShapeError, match=function.__name__):
        traced(function, *drawn(*sizes))


def test_letters_are_bound_once_and_dots_mean_the_same_axes():
    bound = {}
    unify("(..., L, K)", (2, 3, 5), bound, "q")
    assert bound == {"...": (2,), "L": 3, "K": 5}
    unify("(..., K)", (2, 5), bound, "again")
    with pytest.raises(WrongShapeError, match="L is 3"):
        unify("(L,)", (4,), bound, "other")
    with pytest.raises(WrongShapeError, match="more axes"):
        unify("(..., A, B)", (4,), {}, "short")


def test_the_shapes_of_a_docstring_are_read():
    arguments, result = documented(scaled_dot_product_attention)
    assert arguments == {"q": "(..., L, K)", "k": "(..., M, K)", "v": "(..., M, W)"}
    assert result == "(..., L, W)"
