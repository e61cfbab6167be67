"""The check of the bundle says of every answer what the check with answers says."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from processes import CHAPTER, ROOT, checked, checking, ended
from sample_class import FOLDER, read_answers

from autograder.catalogue import of_chapter
from autograder.editions.source import signature
from autograder.spec import Exercise, hint_of

Job = dict[str, Any]
Shown = dict[str, Any]

EXERCISES = of_chapter(CHAPTER)
LEFT_OUT = ("kills_python__exited", "endless__time")  # the first would end the test as well


def stub(exercise: Exercise) -> str:
    return f"{signature(exercise)}\n    raise NotImplementedError()\n"


def known(group: str) -> list[Job]:
    return [
        {"exercise": one.id, "group": group, "number": number}
        for one in EXERCISES
        for number in range(len(getattr(one, group)))
    ]


def handed_in() -> Iterator[Job]:
    """Give the answers of the sample class, each with the cells above it."""
    for path in sorted((FOLDER / CHAPTER).glob("*.py")):
        if path.stem in LEFT_OUT:
            continue
        written = read_answers(path, [one.id for one in EXERCISES])
        cells: list[str] = []
        for one in EXERCISES:
            answer = written.answers.get(one.id, stub(one))
            cells = [*cells, *written.helpers.get(one.id, []), answer]
            yield {"exercise": one.id, "cells": cells}


SOFTMAX = "def softmax(x, dim=-1):\n    {}"
WEIGHTS = "def attention_weights(q, k):\n    return softmax(q @ k.mT / math.sqrt(q.shape[-1])){}"
ANSWERS = (
    "def scaled_dot_product_attention(q, k, v):\n    return attention_weights(q, k) @ v{}",
    "def scaled_dot_product_attention(q, k, v):\n"
    "    return softmax(q @ k.mT / math.sqrt(q.shape[-1])) @ v{}",
)
BROKEN = ("raise NotImplementedError()", "return x / x.sum(dim, keepdim=True)")
LATER = ("", " * 2", ".float()")


def leaning() -> Iterator[Job]:
    """Give answers that call an earlier exercise which is wrong or not written."""
    for broken, after in product(BROKEN, LATER):
        first = SOFTMAX.format(broken)
        yield {"exercise": "attention_weights", "cells": [first, WEIGHTS.format(after)]}
        for last in ANSWERS:
            cells = [first, WEIGHTS.format(""), last.format(after)]
            yield {"exercise": "scaled_dot_product_attention", "cells": cells}


GROUPS = {
    "handed in": [*handed_in()],
    "stubs": [{"exercise": one.id, "cells": [stub(one)]} for one in EXERCISES],
    "leaning": [*leaning()],
    "mistakes": known("mistakes"),
    "alternatives": known("alternatives"),
}


@dataclass(frozen=True)
class Said:
    """What the check of the bundle and that of the course show, by group and in order."""

    by_bundle: dict[str, list[Shown]]
    by_course: dict[str, list[Shown]]


@pytest.fixture(scope="module")
def said(answers: Path, unzipped: Path, tmp_path_factory: pytest.TempPathFactory) -> Said:
    """Check everything in two processes at once."""
    jobs = [job for group in GROUPS.values() for job in group]
    elsewhere = tmp_path_factory.mktemp("the course")
    processes = (checking(jobs, answers, unzipped), checking(jobs, elsewhere, ROOT, answers))
    return Said(*(by_group(json.loads(ended(process))) for process in processes))


def by_group(shown: list[Shown]) -> dict[str, list[Shown]]:
    rest = iter(shown)
    found = {name: [*islice(rest, len(jobs))] for name, jobs in GROUPS.items()}
    assert [*rest] == []
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_bundle_and_course_say_the_same(said, group):
    one, other = said.by_bundle[group], said.by_course[group]
    assert len(one) == len(other) == len(GROUPS[group]) > 0
    both = zip(GROUPS[group], one, other, strict=True)
    assert [(job, a, b) for job, a, b in both if a != b] == []


def test_a_stub_is_not_written_yet(said):
    for report in said.by_bundle["stubs"]:
        assert (report["verdict"], report["score"]) == ("not answered", 0)
        assert "not written yet" in report["text"]


def test_every_mistake_is_named(said):
    hints = [f"Likely cause: {hint_of(m)}" for one in EXERCISES for m in one.mistakes]
    assert [report["diagnosis"] for report in said.by_bundle["mistakes"]] == hints


def test_every_alternative_gets_full_marks(said):
    assert {report["verdict"] for report in said.by_bundle["alternatives"]} == {"pass"}


def test_an_answer_that_leans_on_a_wrong_one_gets_its_points(said):
    first = len(LATER) * len(("attention_weights", *ANSWERS))
    for report in said.by_bundle["leaning"][0], said.by_bundle["leaning"][first + 1]:
        assert report["verdict"] == "pass"
        assert report["diagnosis"].startswith("Judged with the course's own")


def test_another_seed_than_the_public_one_is_refused_in_words(answers, unzipped):
    job = {"exercise": "softmax", "group": "alternatives", "number": 0}
    (report,) = checked([{**job, "options": {"seed": "winter"}}], answers, unzipped)
    assert report["verdict"] == "grader error"
    assert "the public seed alone: leave `seed` out" in report["diagnosis"]
