"""A session runs cells as a notebook does, uses answers as asked, and gives back plain data."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from autograder.conversation import Conversation, Help
from autograder.editions.notebook import first_cell
from autograder.faults import FaultKind, SessionEnded
from autograder.frames import encode, request_data
from autograder.limits import Limits
from autograder.perform import perform
from autograder.standins import answer_for
from autograder.wire import Call, Foreign, Reply, Request, call, gradient
from autograder.zygotes import Zygote, open_zygote

MODULES = {"solutions": "", "solutions.early": "def early():\n    return 'early'\n"}
LIMITS = Limits(cell=2.0, request=1.0, grace=2.0)


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with open_zygote("none") as one:
        yield one


@pytest.fixture
def talk(zygote: Zygote) -> Iterator[Conversation]:
    session = zygote.session({"modules": MODULES, "seconds": LIMITS.request})
    yield Conversation(session, LIMITS)
    session.end()


def no_help(_: Any) -> Reply:
    raise AssertionError("nobody asked for help")


def ask(talk: Conversation, name: str, request: Request) -> Reply:
    return ask_with(talk, name, request, (), no_help)


def ask_with(
    talk: Conversation, name: str, request: Request, standins: Sequence[str], help_: Help
) -> Reply:
    (reply,) = talk.ask(name, encode([request_data(request)]), 1, standins, help_)
    return reply


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    found = []
    for one in outputs:
        found.append(one.get("text") or one.get("evalue") or one["data"]["text/plain"])
    return found


# Cells


def test_a_cell_shows_what_a_notebook_shows(talk: Conversation) -> None:
    outputs = talk.run("import sys\nprint('a')\nprint('b', file=sys.stderr)\ndisplay(1)\n2")
    kinds = [one["output_type"] for one in outputs]
    assert kinds == ["stream", "stream", "display_data", "execute_result"]
    assert texts(outputs) == ["a\n", "b\n", "1", "2"]


def test_names_last_from_cell_to_cell(talk: Conversation) -> None:
    talk.run("x = 3")
    assert texts(talk.run("x")) == ["3"]


def test_an_error_is_an_output_and_the_next_cell_runs(talk: Conversation) -> None:
    (error,) = talk.run("1/0")
    assert (error["output_type"], error["ename"]) == ("error", "ZeroDivisionError")
    assert talk.run("def (:")[0]["ename"] == "SyntaxError"
    assert texts(talk.run("4")) == ["4"]


@pytest.mark.parametrize("magic", ["%time 3", "%%time\n3", "%matplotlib inline\n3", "%who\n3"])
def test_magics_work(talk: Conversation, magic: str) -> None:
    assert texts(talk.run(magic))[-1] == "3"


@pytest.mark.parametrize("line", ["!ls", "%pip install torch", "lines = !ls", "!pip install x"])
def test_commands_are_not_run_and_the_cell_goes_on(talk: Conversation, line: str) -> None:
    said, value = texts(talk.run(f"{line}\n5"))
    assert "not run while grading" in said
    assert value == "5"


def test_the_cell_that_installs_what_is_missing_finds_all_of_it(talk: Conversation) -> None:
    assert talk.run(first_cell("https://example.org/course", "main")) == []


def test_figures_are_shown(talk: Conversation) -> None:
    outputs = talk.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert any("image/png" in one.get("data", {}) for one in outputs)


def test_top_level_await_works(talk: Conversation) -> None:
    assert texts(talk.run("import asyncio\nawait asyncio.sleep(0, 7)")) == ["7"]


def test_an_endless_cell_is_stopped_and_the_next_one_runs(zygote: Zygote) -> None:
    quick = replace(LIMITS, cell=0.2)
    talk = Conversation(zygote.session({"modules": {}, "seconds": 1.0}), quick)
    (error,) = talk.run("while True: pass")
    assert (error["ename"], error["evalue"]) == ("OutOfTime", "stopped after 0.2 seconds")
    assert texts(talk.run("6")) == ["6"]


@pytest.mark.parametrize(
    "leave", ["exit()", "quit()", "import sys; sys.exit(3)", "raise SystemExit"]
)
def test_a_cell_that_asks_to_exit_ends_itself_alone(talk: Conversation, leave: str) -> None:
    assert talk.run(leave)[0]["ename"] == "SystemExit"
    assert texts(talk.run("8")) == ["8"]


def test_a_flood_keeps_its_ends(talk: Conversation) -> None:
    (text,) = texts(talk.run("print('begin'); print('x' * 10**7); print('end')"))
    assert text.startswith("begin\nxxx")
    assert text.endswith("xxx\nend\n")
    assert "characters left out" in text
    assert len(text) < 40_000


def test_a_flood_of_displays_is_counted(talk: Conversation) -> None:
    outputs = talk.run("for i in range(1000): display(i)")
    assert len(outputs) == 51
    assert texts(outputs)[-1] == "[950 more outputs left out]\n"


def test_only_given_modules_are_there(talk: Conversation) -> None:
    assert texts(talk.run("from solutions.early import early\nearly()")) == ["'early'"]
    (error,) = talk.run("import solutions.softmax")
    assert error["ename"] == "ModuleNotFoundError"
    (error,) = talk.run("import autograder.exercises")
    assert error["ename"] == "ModuleNotFoundError"


def test_a_students_own_check_cell_does_no_harm(talk: Conversation) -> None:
    assert "outside" in texts(talk.run("from autograder import check\ncheck(print)"))[0]


# Answers


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("def f(): pass", "function"),
        ("f = lambda: 3", "function"),
        ("class f: pass", "class"),
        ("f = 3", "int"),
        ("g = 3", "missing"),
    ],
)
def test_look(talk: Conversation, cell: str, kind: str) -> None:
    talk.run(cell)
    assert talk.look("f") == kind


def twice(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


TWICE = "def f(x):\n    return 2 * x"


@pytest.mark.parametrize(
    "x",
    [
        torch.arange(6.0).reshape(2, 3),
        torch.arange(6.0).reshape(2, 3).T,
        torch.ones(2, 3, dtype=torch.float16),
        torch.ones(2, 3, dtype=torch.bfloat16),
        torch.empty(2, 3, device="meta"),
        torch.tensor(float("nan")),
        torch.zeros(0, 2),
    ],
)
def test_the_same_reply_as_without_a_wall(talk: Conversation, x: torch.Tensor) -> None:
    talk.run(TWICE)
    there, here = ask(talk, "f", call(x)), perform(twice, call(x))
    assert repr(there) == repr(here)


def test_gradients_cross_the_wall(talk: Conversation) -> None:
    talk.run("def f(x, y):\n    return x * y")
    reply = ask(talk, "f", gradient(torch.ones(2), torch.ones(2), torch.full((2,), 3.0)))
    assert [g.tolist() for g in reply.values] == [[3.0, 3.0], [1.0, 1.0]]


LAYER = """
import torch
class Layer(torch.nn.Module):
    def __init__(self, width, bias=False):
        super().__init__()
        self.w = torch.nn.Linear(width, width, bias=bias)
        self.drop = torch.nn.Dropout(1.0)
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        return self.drop(self.w(x)) + self.calls
    def count(self):
        return self.calls
"""


@pytest.mark.parametrize(("train", "first"), [(False, [3.0, 3.0]), (True, [1.0, 1.0])])
def test_modules_with_given_weights(talk: Conversation, train: bool, first: list[float]) -> None:
    talk.run(LAYER)
    x = torch.ones(2)
    calls = (Call((x,)), Call((x,)), Call((), {}, "count"))
    state = {"w.weight": torch.ones(2, 2)}
    request = Request(calls, build=Call((2,), {"bias": False}), state=state, train=train)
    one, two, count = ask(talk, "Layer", request).values
    assert one.tolist() == first
    assert (two - one).tolist() == [1.0, 1.0]
    assert count == 2


def test_functions_that_are_watched_are_told(talk: Conversation) -> None:
    talk.run("import torch\ndef f(x):\n    return getattr(torch, 'soft' + 'max')(x, -1)")
    request = replace(call(torch.ones(2)), watch=("torch.softmax",))
    assert ask(talk, "f", request).used == ("torch.softmax",)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("raise NotImplementedError", FaultKind.NOT_WRITTEN),
        ("return 1 / 0", FaultKind.EXCEPTION),
        ("import sys; sys.exit()", FaultKind.EXITED),
        ("import os; os._exit(0)", FaultKind.EXITED),
        ("import os; os.kill(os.getpid(), 15)", FaultKind.EXITED),
        ("while True: pass", FaultKind.TIME),
        ("return torch.zeros(10**7)", FaultKind.OUTPUT),
        ("return [12345678] * 10**6", FaultKind.OUTPUT),
    ],
)
def test_how_an_answer_can_end(talk: Conversation, body: str, kind: FaultKind) -> None:
    talk.run(f"import torch\ndef f():\n    {body}")
    fault = ask(talk, "f", call()).fault
    assert fault
    assert fault.kind == kind


def test_what_cannot_be_interrupted_is_killed(talk: Conversation) -> None:
    talk.run("import signal\ndef f():\n    signal.pthread_sigmask(0, [14])\n    while True: pass")
    fault = ask(talk, "f", call()).fault
    assert fault
    assert fault.kind == FaultKind.TIME
    assert talk.ended
    with pytest.raises(SessionEnded, match="still running"):
        talk.run("1")


def test_foreign_objects_are_names(talk: Conversation) -> None:
    talk.run("class Sly(float):\n    pass\ndef f():\n    return Sly(1), object()")
    assert ask(talk, "f", call()).values == ((Foreign("Sly"), Foreign("object")),)


# The course's own version of an earlier exercise


USES = """
import torch
def softmax(x, dim=-1):
    return x
def attention_weights(q, k):
    return softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
"""


def helped(call_: Any) -> Reply:
    return answer_for(("softmax",), call_)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_standin_computes_on_the_other_side(talk: Conversation, device: str) -> None:
    talk.run(USES)
    q, k = torch.randn(2, 3, device=device), torch.randn(4, 3, device=device)
    (own,) = ask(talk, "attention_weights", call(q, k)).values
    (theirs,) = ask_with(talk, "attention_weights", call(q, k), ["softmax"], helped).values
    assert own.shape == theirs.shape == (2, 4)
    if device == "cpu":
        assert torch.allclose(theirs, torch.softmax(q @ k.mT / 3**0.5, -1))


def test_a_standin_has_gradients(talk: Conversation) -> None:
    talk.run(USES)
    q, k, cotangent = torch.randn(2, 3), torch.randn(4, 3), torch.randn(2, 4)

    def reference(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return torch.softmax(q @ k.mT / 3**0.5, -1)

    wanted = perform(reference, gradient(cotangent, q, k)).values
    got = ask_with(talk, "attention_weights", gradient(cotangent, q, k), ["softmax"], helped).values
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(got, wanted, strict=True))


def test_nobody_helps_with_what_is_not_asked_for(talk: Conversation) -> None:
    talk.run(USES)

    def refusing(call_: Any) -> Reply:
        return answer_for((), call_)

    x = torch.ones(2, 2)
    fault = ask_with(talk, "attention_weights", call(x, x), ["softmax"], refusing).fault
    assert fault
    assert fault.kind == FaultKind.EXCEPTION
