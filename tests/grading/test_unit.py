"""The unit of work: a file becomes a record, the same one each time, whatever the file or we do."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import CHAPTER
from handed_in import exercises, graded, handed_in, settings

from autograder import unit
from autograder.jobs import Done, Job
from autograder.kept import close_zygotes
from autograder.result import Result, result_of
from autograder.unit import ATTEMPTS, given_up, work
from autograder.verdict import Verdict


@pytest.fixture(scope="module", autouse=True)
def one_sandbox() -> Iterator[None]:
    yield
    close_zygotes()


def job(data: bytes = b"{", **more: Any) -> Job:
    given = {"student": "ann", "chapter": CHAPTER, "path": "a folder/hw.ipynb"}
    return Job(**given | {"data": data, "digest": hashlib.sha256(data).hexdigest()} | more)


def without_seconds(done: Done) -> tuple[dict[str, Any], str]:
    return {**done.record, "seconds": 0}, done.notebook


@pytest.mark.slow
def test_the_same_bytes_give_the_same_record_and_notebook() -> None:
    data = handed_in(above={"softmax": ["print('seen')"]}, softmax="def softmax(x, dim=-1): 1 / 0")
    first, again = work(settings(), job(data)), work(settings(), job(data))
    assert without_seconds(first) == without_seconds(again)
    assert "seen" in first.notebook
    direct = graded(data)
    assert without_seconds(direct) == without_seconds(first)
    other = graded(data, seed="another seed").record
    assert other["seed_id"] != first.record["seed_id"]
    assert [one["verdict"] for one in other["exercises"]] == [
        one["verdict"] for one in exercises(first)
    ]


@pytest.mark.slow
def test_a_record_says_what_was_graded_and_keeps_the_seed() -> None:
    data = handed_in()
    done = work(settings(), job(data, notes=("taken from elsewhere",)))
    record = done.record
    assert record["submission"] == hashlib.sha256(data).hexdigest()
    assert (record["student"], record["chapter"]) == ("ann", CHAPTER)
    assert record["sandbox"] == settings().tier
    assert record["version"] == settings().versions[CHAPTER]
    assert record["seed_id"] == settings().seed_id
    assert record["notes"][0] == "taken from elsewhere"
    assert settings().seed not in json.dumps(record) + done.notebook
    assert result_of(record).as_json() == record


# Files without a notebook in them


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (job(b"{"), "hw.ipynb: not JSON"),
        (job(b""), "hw.ipynb: "),
        (job(b"", path="", error="no notebook was found"), "no notebook was found"),
    ],
)
def test_what_cannot_be_read_has_a_record_with_the_reason(given: Job, reason: str) -> None:
    done = work(settings(), given)
    assert done.record["error"].startswith(reason)
    assert "a folder" not in done.record["error"], "a path is none of the student's business"
    assert (done.record["score"], done.record["max_score"]) == (0, 20)
    assert {one["verdict"] for one in exercises(done)} == {"not answered"}
    assert done.notebook == ""


def test_the_chapter_is_found_in_the_file_or_in_its_name() -> None:
    cell = {"cell_type": "code", "source": "x = 1"}
    other = json.dumps({"cells": [cell], "nbformat": 4}).encode()
    unknown = work(settings(), job(other, chapter="")).record
    assert unknown["chapter"] == ""
    assert "none of the course's exercises" in unknown["error"]
    named = work(settings(), job(b"{", chapter="", path=f"{CHAPTER}.ipynb")).record
    assert (named["chapter"], named["max_score"]) == (CHAPTER, 20)


def test_a_job_reads_its_file_once(tmp_path: Path) -> None:
    path = tmp_path / "hw.ipynb"
    path.write_bytes(b"{}")
    loaded = Job("ann", CHAPTER, str(path)).loaded()
    assert (loaded.data, loaded.digest) == (b"{}", hashlib.sha256(b"{}").hexdigest())
    path.unlink()
    gone = Job("ann", CHAPTER, str(path)).loaded()
    assert gone.error.startswith("hw.ipynb: ")
    assert (gone.data, gone.digest) == (b"", "")
    assert gone.loaded() is gone


# Faults of ours


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Have grading fail so many times; what comes back counts the tries."""

    def fail(times: int) -> list[int]:
        tries: list[int] = []

        def graded_cells(_: Any, chapter: str, __: Any) -> tuple[Result, dict[str, Any]]:
            tries.append(1)
            if len(tries) <= times:
                raise OSError("the disk is full")
            return Result(chapter, ()), {"cells": []}

        monkeypatch.setattr(unit, "graded_cells", graded_cells)
        return tries

    return fail


@pytest.mark.parametrize("times", range(ATTEMPTS))
def test_a_fault_of_ours_is_tried_again(failing: Callable[[int], list[int]], times: int) -> None:
    tries = failing(times)
    done = work(settings(), job(b'{"cells": []}'))
    assert len(tries) == times + 1
    assert done.notebook == '{"cells": []}'


def test_a_fault_that_stays_is_a_grader_error(failing: Callable[[int], list[int]]) -> None:
    tries = failing(ATTEMPTS)
    done = work(settings(), job(b'{"cells": []}'))
    assert len(tries) == ATTEMPTS
    assert {one["verdict"] for one in exercises(done)} == {"grader error"}
    assert "OSError: the disk is full" in exercises(done)[0]["diagnosis"]
    assert "error" not in done.record, "the student's file is not at fault"
    assert done.notebook == ""


def test_a_fault_is_told_even_where_no_chapter_is_known(failing: Callable[[int], Any]) -> None:
    failing(ATTEMPTS)
    result = result_of(work(settings(), job(handed_in(), chapter="")).record)
    assert result.verdict != Verdict.PASS
    assert "the disk is full" in result.error


def test_a_job_that_was_given_up_is_a_grader_error_of_that_student() -> None:
    done = given_up(settings(), job(), "worker after worker died")
    assert done.record["student"] == "ann"
    assert done.record["submission"] == job().digest
    assert {one["verdict"] for one in exercises(done)} == {"grader error"}
    assert "worker after worker died" in exercises(done)[0]["diagnosis"]


def test_nothing_but_an_error_stops_the_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(unit, "graded_cells", stopped)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        work(settings(), job(b'{"cells": []}'))
