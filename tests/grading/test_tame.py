"""A cell counts as tame only if nothing in it can change what other cells rely on."""

import pytest
import sample_class
from commands import CHAPTER

from autograder.tame import is_tame

TAME = (
    "import math\nimport torch\nfrom torch.nn import functional as F",
    "def f(x: torch.Tensor) -> torch.Tensor:\n    y = x.clone()\n    y[0] = 1\n    return y.exp_()",
    "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = 1",
    "x = torch.randn(3, 4)\nprint(f(x).sum())\nplt.plot(x)\nplt.show()",
    "raise NotImplementedError",
    "",
)
WILD = (
    "torch.exp = None",
    "torch.exp += 1",
    "del torch.exp",
    "def f():\n    torch.Tensor.exp = None",
    "def f():\n    global torch\n    torch = None",
    "setattr(torch, 'exp', None)",
    "getattr(torch, 'a')",
    "torch.__dict__['exp'] = None",
    "vars(torch)['exp'] = None",
    "torch.set_default_dtype(torch.float64)",
    "torch.use_deterministic_algorithms(True)",
    "torch._C._set_grad_enabled(False)",
    "import sys",
    "import builtins as b",
    "from os import *",
    "from math import *",
    "from . import x",
    "from torch import _C",
    "exec('1')",
    "get_ipython().events",
    "%autoreload 2",
    "%%time\n1",
    "def __del__(self): pass",
    "class A:\n    def __torch_function__(self): pass",
    "np.x[0].y[1] = 2",
    "(lambda: 1).__globals__",
    "def (",
    "-" * 100_000 + "1",
    "x = 1\n" * 10_000,
)


@pytest.mark.parametrize("source", TAME)
def test_tame(source):
    assert is_tame(source)


@pytest.mark.parametrize("source", WILD, ids=lambda source: source[:30])
def test_wild(source):
    assert not is_tame(source)


def test_the_courses_own_student_notebook_is_mostly_tame():
    cells = [c for c in sample_class.student_notebook(CHAPTER).cells if c.cell_type == "code"]
    wild = [c.source for c in cells if not is_tame(c.source)]
    assert len(wild) <= 3, wild
