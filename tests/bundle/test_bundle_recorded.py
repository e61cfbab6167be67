"""An exercise read back is the one that was written, apart from its code."""

from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from processes import CHAPTER

from autograder.bundle.record import recorded_files
from autograder.catalogue import exercise as find
from autograder.catalogue import of_chapter
from autograder.faults import FaultKind
from autograder.judge import PUBLIC_SEED, judge, trials
from autograder.perform import perform
from autograder.readymade import READY_MADE
from autograder.recorded import NotRecorded, Recorded, digest, read_exercise
from autograder.spec import Exercise
from autograder.verdict import Verdict
from autograder.watched import EVERY, Watching
from autograder.wire import Reply, call, gradient, map_request

EXERCISES = of_chapter(CHAPTER)
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=[e.id for e in EXERCISES])
CODE = {"solution", "cases", "mistakes", "alternatives", "draw", "examine", "request"}


def read_back(exercise: Exercise, folder: Path) -> Exercise:
    for name, content in recorded_files(exercise).items():
        (folder / name).write_bytes(content)
    return read_exercise(folder, READY_MADE.get(exercise.id))


def words(thing: Any) -> dict[str, Any]:
    """Give everything of a spec that is no code."""
    return {f.name: getattr(thing, f.name) for f in fields(thing) if f.name not in CODE}


@every_exercise
def test_an_exercise_is_read_as_it_was_written(exercise, tmp_path):
    again = read_back(exercise, tmp_path)
    extra = {"asks_for_class": False, "names": exercise.takes}
    assert words(again) == {**words(exercise), **extra}
    assert (again.id, again.is_class) == (exercise.id, exercise.is_class)
    assert again.solution.__module__ == exercise.solution.__module__
    assert [m.__doc__ for m in again.mistakes] == [m.__doc__ for m in exercise.mistakes]
    for one, other in zip(again.cases, exercise.cases, strict=True):
        assert words(one) == words(other)
        assert one.examine is other.examine
        pairs = zip(drawn(again, one), drawn(exercise, other), strict=True)
        for mine, theirs in pairs:
            assert words(mine) == words(theirs)
            assert digest(mine.request) == digest(theirs.request)


def drawn(exercise: Exercise, case: Any) -> list[Any]:
    return [*trials(exercise, case, PUBLIC_SEED)]


@every_exercise
def test_every_reply_is_read_as_it_was_given(exercise, tmp_path):
    again = read_back(exercise, tmp_path)
    implementations = zip(
        (again.solution, *again.mistakes), (exercise.solution, *exercise.mistakes), strict=True
    )
    requests = [t.request for case in exercise.cases for t in drawn(exercise, case)]
    for recorded, live in implementations:
        for request in requests:
            assert isinstance(recorded, Recorded)
            assert_equal(recorded.reply(request), perform(live, request))


def assert_equal(one: Reply, other: Reply) -> None:
    torch.testing.assert_close(one.values, other.values, rtol=0, atol=0, equal_nan=True)
    assert one.changed == other.changed
    assert one.printed == ""
    assert bool(one.fault) == bool(other.fault)
    if one.fault and other.fault:
        assert one.fault == replace(other.fault, place="")


def test_a_class_is_asked_for_as_a_class(tmp_path):
    class Doubling:
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * x

    assert read_back(replace(find("softmax"), solution=Doubling), tmp_path).is_class


def test_an_examine_function_of_an_exercises_own_is_refused():
    first, *rest = find("softmax").cases
    own = replace(first, examine=lambda *anything: None)
    with pytest.raises(ValueError, match=r"softmax.*not in autograder/compare\.py.*move it there"):
        recorded_files(replace(find("softmax"), cases=(own, *rest)))


@pytest.mark.parametrize("damage", ["lost", "cut", "swapped", "empty"])
def test_a_damaged_copy_says_so(tmp_path, damage):
    read_back(find("attention_cost"), tmp_path)
    file = tmp_path / "case_01.frame"
    content = file.read_bytes()
    replaced = {"cut": content[:-9], "empty": b"", "swapped": content[4:]}
    file.unlink() if damage == "lost" else file.write_bytes(replaced[damage])
    with pytest.raises(NotRecorded, match=r"missing or damaged .*: unzip them again"):
        read_exercise(tmp_path)


# Requests


def test_a_digest_tells_requests_apart_but_not_who_watches():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    requests = [
        call(x), call(x.T), call(x.T.contiguous()), call(x.double()), call(x.to("meta")),
        call(x, 1), call(x, dim=1), gradient(x, x), replace(call(x), train=True),
    ]  # fmt: skip
    assert len({digest(one) for one in requests}) == len(requests)
    assert digest(replace(call(x), watch=("torch.softmax",))) == digest(call(x))
    assert digest(map_request(torch.clone, call(x.T))) == digest(call(x.T))


def test_what_was_not_asked_has_no_reply():
    recorded = Recorded("double", "solutions.double", "", {digest(call(1)): Reply((2,))})
    assert recorded.reply(call(1)).values == (2,)
    with pytest.raises(NotRecorded, match="no reply of `double`"):
        recorded.reply(call(2))
    fault = perform(recorded, call(1)).fault
    assert fault is not None
    assert fault.kind == FaultKind.EXCEPTION
    assert "holds no function `double`" in fault.message


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_reply_comes_on_the_device_of_the_request():
    x = torch.ones(2)
    recorded = Recorded("same", "solutions.same", "", {digest(call(x)): Reply((x,))})
    assert recorded.reply(call(x.cuda())).values[0].is_cuda


# Ready-made functions


def standing_in(name: str) -> Recorded:
    return Recorded(name, "solutions", "", {}, READY_MADE[name])


@pytest.mark.parametrize("name", READY_MADE)
def test_a_ready_made_function_does_what_its_exercise_asks(name):
    for seed in (PUBLIC_SEED, "autumn", "winter"):
        report = judge(find(name), partial(perform, standing_in(name)), seed=seed)
        assert [f for f in report.findings if not f.passed] == []
        assert report.verdict == Verdict.PASS


@pytest.mark.parametrize("name", READY_MADE)
def test_a_ready_made_function_is_not_held_against_the_answer_that_it_helps(name):
    forbidden = tuple({name for one in (*EXERCISES, find(name)) for name in one.forbidden})
    first = next(iter(trials(find(name), find(name).cases[0], PUBLIC_SEED)))
    given = first.request.calls[0].args
    used = []
    for _ in range(2 * EVERY):
        with Watching(forbidden) as watch:
            standing_in(name)(*given)
        used += watch.used
    assert used == []
    with Watching(forbidden) as watch:
        READY_MADE[name](*given)
    assert watch.used != ()
