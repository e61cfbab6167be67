"""A notebook before the judge, in a real sandbox: nothing in it costs or gives another's points."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from commands import CHAPTER
from handed_in import POINTS, exercises, graded, handed_in, settings, verdicts

from autograder import sitting
from autograder.jobs import Done, Job
from autograder.kept import close_zygotes, zygote_of
from autograder.limits import Limits
from autograder.score import MIME
from autograder.spec import Exercise
from autograder.unit import work
from autograder.verdict import Report

pytestmark = pytest.mark.slow

LIMITS = Limits(cell=2.0, request=2.0, submission=60.0, grace=1.0)
WRONG_SOFTMAX = "def softmax(x, dim=-1):\n    return x / x.sum(dim=dim, keepdim=True)"
TORCHS_WEIGHTS = """\
def attention_weights(q, k):
    eye = torch.eye(k.shape[-2], dtype=k.dtype, device=k.device)
    return torch.nn.functional.scaled_dot_product_attention(q, k, eye.expand(*k.shape[:-2], -1, -1))
"""
HIDDEN_CLOCK = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"


@pytest.fixture(scope="module", autouse=True)
def one_sandbox() -> Iterator[None]:
    yield
    close_zygotes()


def report(done: Done, exercise: str) -> dict[str, Any]:
    return next(one for one in exercises(done) if one["id"] == exercise)


def cells(done: Done, text: str) -> list[Any]:
    return [cell for cell in json.loads(done.notebook)["cells"] if text in cell["source"]]


def test_honest_work_passes_and_the_checks_show_it() -> None:
    done = graded(handed_in(), LIMITS)
    assert verdicts(done) == {}
    assert done.record["score"] == done.record["max_score"] == POINTS
    (check,) = cells(done, "check(softmax)")
    shown = check["outputs"][0]["data"][MIME]
    assert (shown["verdict"], shown["score"]) == ("pass", report(done, "softmax")["score"])


# Cells that end what they run in

ENDS = {
    "exit": ("import os; os._exit(0)", "ended Python"),
    "crash": ("import ctypes; ctypes.string_at(0)", "crashed Python"),
    "hang": (f"{HIDDEN_CLOCK}while True: pass", "still running"),
}


@pytest.mark.parametrize(("cell", "words"), ENDS.values(), ids=ENDS)
def test_a_cell_that_ends_it_all_is_skipped_and_the_rest_is_judged(cell: str, words: str) -> None:
    helper = "scale = 3"
    done = graded(handed_in(above={"softmax": [helper, cell]}), LIMITS)
    assert verdicts(done) == {}
    (culprit,) = cells(done, cell)
    assert words in culprit["outputs"][0]["evalue"]
    assert "ran without it" in culprit["outputs"][0]["evalue"]


def test_an_answer_that_ends_it_all_costs_itself() -> None:
    body = "def softmax_jacobian(p):\n    import os\n    os._exit(0)"
    done = graded(handed_in(softmax_jacobian=body), LIMITS)
    assert verdicts(done) == {"softmax_jacobian": "exited"}


def test_an_endless_answer_costs_itself() -> None:
    body = f"def softmax_jacobian(p):\n    {HIDDEN_CLOCK.splitlines()[0]}\n    while True: pass"
    done = graded(handed_in(softmax_jacobian=body), LIMITS)
    assert verdicts(done) == {"softmax_jacobian": "time"}


# Cells that spoil or help other answers

POISON = (
    "torch.exp = torch.einsum = None",
    "torch.Tensor.sum = lambda *a, **k: 1 / 0",
    "import builtins\nbuiltins.len = builtins.isinstance = builtins.getattr = None",
    "import sys\nsys.modules['torch'] = None",
    "torch.set_default_dtype(torch.float64)\ntorch.manual_seed = None",
)


@pytest.mark.parametrize("cell", POISON)
def test_an_earlier_cell_cannot_cost_an_honest_answer(cell: str) -> None:
    poisoned = {"product_moments": ["import torch"], "softmax": [cell]}
    assert verdicts(graded(handed_in(above=poisoned), LIMITS)) == {}


def test_a_later_cell_cannot_change_an_earlier_check() -> None:
    worse = ["softmax.__code__ = (lambda *a: 1).__code__", "del softmax_jacobian"]
    assert verdicts(graded(handed_in(last=worse), LIMITS)) == {}
    better = "softmax.__code__ = (lambda x, dim=-1: torch.softmax(x, dim)).__code__"
    done = graded(handed_in(last=[better], softmax=WRONG_SOFTMAX), LIMITS)
    assert verdicts(done) == {"softmax": "wrong"}


def test_of_two_answers_the_last_is_judged_and_this_is_told() -> None:
    done = graded(handed_in(last=[WRONG_SOFTMAX]), LIMITS)
    assert verdicts(done) == {"softmax": "wrong"}
    assert "the last one, cell" in done.record["notes"][0]


# Answers that lean on each other

LEANING = "scaled_dot_product_attention"


@pytest.mark.parametrize(
    ("exercise", "answer", "verdict"),
    [
        ("softmax", WRONG_SOFTMAX, "wrong"),
        ("softmax", "softmax = 3", "wrong"),
        ("softmax", "def softmax(x, dim=-1):\n    raise NotImplementedError", "not answered"),
        ("attention_weights", TORCHS_WEIGHTS, "forbidden"),
    ],
)
def test_an_earlier_exercise_costs_only_itself(exercise: str, answer: str, verdict: str) -> None:
    done = graded(handed_in(**{exercise: answer}), LIMITS)
    assert verdicts(done) == {exercise: verdict}
    leaning = report(done, LEANING)
    assert leaning["score"] == leaning["max_score"]
    assert f"Judged with the course's own `{exercise}`" in leaning["diagnosis"]


def test_what_is_forbidden_in_the_answer_itself_stays_forbidden() -> None:
    own = "def scaled_dot_product_attention(q, k, v):\n    attention_weights(q, k)\n"
    own += "    return torch.nn.functional.scaled_dot_product_attention(q, k, v)"
    answers = {"attention_weights": TORCHS_WEIGHTS, LEANING: own}
    done = graded(handed_in(**answers), LIMITS)
    assert verdicts(done) == dict.fromkeys(answers, "forbidden")
    assert report(done, LEANING)["score"] == 0


# Time


def test_what_is_not_reached_in_time_is_told_so() -> None:
    few = Limits(cell=6.0, request=2.0, submission=6.0, grace=1.0)
    started = time.monotonic()
    done = graded(handed_in(above={"softmax_jacobian": ["while True: pass"]}), few)
    assert time.monotonic() - started < 6 + 6 + 4
    names = [one["id"] for one in exercises(done)]
    late = names[names.index("softmax_jacobian") :]
    assert verdicts(done) == dict.fromkeys(late, "time")
    assert all("ran out of time" in report(done, name)["diagnosis"] for name in late)


def test_many_slow_cells_and_many_ends_take_no_longer_than_a_notebook_may() -> None:
    few = Limits(cell=1.0, request=1.0, submission=4.0, grace=1.0)
    slow = ["while True: pass", "import os; os._exit(0)"] * 8
    started = time.monotonic()
    done = graded(handed_in(above={"product_moments": slow}), few)
    assert time.monotonic() - started < 4 + 4
    assert set(verdicts(done).values()) == {"time"}


# The sandbox itself


def test_a_sandbox_that_is_gone_is_made_again() -> None:
    ours = settings(LIMITS)
    zygote_of(ours.tier).close()
    job = Job("ann", CHAPTER, "hw.ipynb", data=handed_in())
    assert verdicts(work(ours, job)) == {}


def test_a_sandbox_that_dies_while_the_last_answer_is_judged_costs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is no later session then, whose start would show it."""
    ours, killed, real = settings(LIMITS), [], sitting.judge

    def judge(exercise: Exercise, *args: Any, **kwargs: Any) -> Report:
        if exercise.id == "attention_cost" and not killed:
            process = zygote_of(ours.tier)._process
            process.kill()
            process.wait()
            time.sleep(0.5)  # its children die with it, a moment later
            killed.append(exercise.id)
        return real(exercise, *args, **kwargs)

    monkeypatch.setattr(sitting, "judge", judge)
    job = Job("ann", CHAPTER, "hw.ipynb", data=handed_in())
    assert verdicts(work(ours, job)) == {}
    assert killed
