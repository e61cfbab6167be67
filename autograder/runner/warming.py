"""Do once, before any fork, what Python, torch and IPython do at first use: it takes time.

What is run here is nobody's answer: a few operations on toy numbers, on one thread.
"""

from __future__ import annotations

import torch

from autograder.frames import as_reply, as_request, decode, encode, reply_data, request_data
from autograder.perform import perform
from autograder.runner.shell import make_ready, new_shell, run_cell
from autograder.wire import Request, call, gradient

CELLS = (
    "import math\nimport numpy as np\nimport torch\nfrom torch import Tensor, nn\n"
    "from torch.nn import functional as F",
    "def mixed(x: Tensor, y: Tensor) -> Tensor:\n"
    '    """Do a little of everything."""\n'
    "    z = torch.einsum('...ij,...kj->...ik', x, y) / math.sqrt(x.shape[-1])\n"
    "    z = (z - z.amax(-1, keepdim=True)).exp().cumsum(-1).masked_fill(z > 9, 0.0)\n"
    "    return (z / z.sum(-1, keepdim=True)).tanh() @ y",
    "1 / 0",
    "mixed(torch.ones(2, 3), torch.ones(4, 3))",
)
WATCHED = ("torch.special.entr",)


def warm_up() -> None:
    """Run a toy notebook and throw it away; make the shell of the next one."""
    shell = new_shell()
    for cell in CELLS:
        run_cell(shell, cell, 60.0)
    for request in _requests():
        crossed = as_request(decode(encode(request_data(request))))
        reply = perform(shell.user_ns["mixed"], crossed)
        as_reply(decode(encode(reply_data(reply))))
    make_ready()


def _requests() -> list[Request]:
    x, y = torch.ones(2, 3), torch.ones(4, 3)
    on_meta = [tensor.to("meta") for tensor in (x, y)]
    half = [tensor.to(torch.bfloat16) for tensor in (x, y)]
    plain = call(x, y)
    watched = Request(plain.calls, watch=WATCHED)
    return [plain, watched, call(*on_meta), call(*half), gradient(x, x, y), call(x)]
