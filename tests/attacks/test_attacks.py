"""No attack earns a point, reads what it must not, harms the next submission or stays behind."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import watch
from active import active_parts
from suite import CHAPTER, MARK, Attack, Told, answers, attacks, honest_notebook

from autograder import check
from autograder.catalogue import of_chapter
from autograder.course import find_course
from autograder.jobs import Settings
from autograder.kept import close_zygotes
from autograder.limits import Limits
from autograder.notebooks import instructor
from autograder.report.feedback import feedback_page
from autograder.unit import grade_bytes
from autograder.zygotes import why_not

pytestmark = pytest.mark.slow

LIMITS = Limits(cell=3.0, request=0.4, submission=40.0, grace=0.7)
SECONDS = 60.0
EACH = 8  # after so many attacks, an honest notebook is graded by the same warm parent
SANDBOXES = ("namespaces", "landlock")
POINTS = {one.id: one.points for one in of_chapter(CHAPTER)}
ALL = attacks()


@pytest.fixture(scope="module", autouse=True)
def outside() -> Iterator[None]:
    """Watch for what gets out of any sandbox during the whole suite."""
    watch.adopt_orphans()
    before = watch.left_behind()
    with watch.servers() as servers:
        yield
        assert [one for one in servers if watch.reached(one)] == []
    assert watch.left_behind() - before == set()
    ours = [f for name in ("autograder", "solutions") for f in (watch.ROOT / name).rglob("*.py")]
    assert [f for f in ours if MARK in f.read_text(encoding="utf-8")] == []


@pytest.fixture(scope="module")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[watch.Canaries]:
    with watch.planted(tmp_path_factory.mktemp("class")) as planted:
        yield planted


@pytest.fixture(scope="module", params=SANDBOXES)
def settings(request: pytest.FixtureRequest, canaries: watch.Canaries) -> Iterator[Settings]:
    """Grade under one tier, with limits that keep the suite short."""
    missing = why_not(request.param)
    if missing:
        pytest.skip(f"no {request.param} here: {missing}")
    frames = {CHAPTER: json.dumps(instructor(find_course(watch.ROOT), CHAPTER))}
    yield Settings(canaries.seed, request.param, frames, {CHAPTER: ""}, limits=LIMITS)
    close_zygotes()


def graded(notebook: bytes, settings: Settings, name: str = "homework.ipynb") -> Told:
    done = grade_bytes(notebook, student="ann", name=name, chapter=CHAPTER, settings=settings)
    return Told(done.record, json.loads(done.notebook))


def assert_fair(told: Told, attack: Attack) -> None:
    """The attacked exercises earned nothing but what is known, all others what they deserve."""
    endings = {one["id"]: (one["verdict"], one["score"]) for one in told.record["exercises"]}
    for name, (verdict, score) in endings.items():
        if attack.limit or name not in attack.attacked:  # a limit that holds again: drop its header
            assert (verdict, score) == ("pass", POINTS[name]), endings
            continue
        assert score <= attack.earns, endings
        assert verdict not in ("pass", "grader error"), endings
        assert not attack.verdicts or verdict in attack.verdicts, endings
        assert attack.says in told.exercise(name)["diagnosis"]
    assert told.record["score"] == sum(score for _, score in endings.values())


def assert_marks_agree(told: Told) -> None:
    """What a gradebook reads in the executed notebook is what the record says, once."""
    shown = told.marks_shown()
    assert shown.keys() == POINTS.keys()
    for name, outputs in shown.items():
        (mark,) = outputs
        assert mark["output_type"] == "execute_result"
        assert mark["data"]["text/plain"] == repr(float(told.exercise(name)["score"]))
        assert active_parts(mark["data"]["text/html"]) == []


def assert_nothing_told(told: Told, secrets: tuple[str, ...]) -> None:
    everything = json.dumps([told.record, told.notebook], ensure_ascii=False)
    assert [text for text in secrets if text in everything] == []


def assert_harmless(told: Told) -> None:
    """The page that a student gets shows what the attack left in it, and lets nothing act."""
    assert active_parts(feedback_page(told.record, told.notebook)) == []


def assert_honest_gets_all(settings: Settings) -> None:
    told = graded(honest_notebook(), settings)
    assert told.record["score"] == told.record["max_score"] == sum(POINTS.values()), told.record


def test_there_are_enough_attacks() -> None:
    assert len(ALL) >= 75
    assert len({attack.kind for attack in ALL}) >= 15
    assert {name for attack in ALL for name in attack.attacked} == POINTS.keys()


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
def test_each_attack_says_what_it_tries_and_answers_what_it_attacks(attack: Attack) -> None:
    assert attack.path.read_text(encoding="utf-8").startswith("# ")
    assert set(attack.attacked) <= POINTS.keys()
    assert answers(attack.path).answers.keys() >= POINTS.keys()
    assert json.loads(attack.notebook())["cells"]


@pytest.mark.parametrize("attack", [a for a in ALL if a.public], ids=lambda attack: attack.name)
def test_what_is_known_by_heart_passes_with_the_public_seed(attack: Attack) -> None:
    (name,) = attack.attacked
    written, space = answers(attack.path), dict[str, Any]()
    exec("\n".join([*written.helpers[name], written.answers[name]]), space)
    assert check(space[name], name).report.verdict == "pass"


def test_an_honest_notebook_gets_all(settings: Settings) -> None:
    assert_honest_gets_all(settings)


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
def test_an_attack_earns_nothing_and_leaves_nothing(
    settings: Settings, canaries: watch.Canaries, attack: Attack
) -> None:
    assert_honest_once(settings)
    before, started = watch.processes_below(), time.monotonic()
    told = graded(attack.notebook(), settings)
    assert time.monotonic() - started < SECONDS
    assert_fair(told, attack)
    assert_marks_agree(told)
    assert_nothing_told(told, (*attack.never, *canaries.all))
    assert_harmless(told)
    assert attack.shows in json.dumps([told.outputs(), told.record], ensure_ascii=False)
    assert watch.processes_below() <= before
    if ALL.index(attack) % EACH == 0:
        assert_honest_gets_all(settings)


_warm: set[str] = set()


def assert_honest_once(settings: Settings) -> None:
    """Have the warm parent of a tier started before its processes are counted."""
    if settings.tier not in _warm:
        assert_honest_gets_all(settings)
        _warm.add(settings.tier)


LEFTOVERS = [attack for attack in ALL if attack.kind in ("leftovers", "disk")]


@pytest.mark.parametrize("attack", LEFTOVERS, ids=lambda attack: attack.name)
def test_the_next_submission_finds_nothing(settings: Settings, attack: Attack) -> None:
    for _ in range(2):
        told = graded(attack.notebook(), settings)
        assert_fair(told, attack)
        assert_nothing_told(told, attack.never)
    assert_honest_gets_all(settings)


def test_what_acts_in_a_page_is_found() -> None:
    assert active_parts("<p title='x'>&lt;script&gt;</p><img src='data:image/png;base64,AA'>") == []
    assert active_parts("<script>1</script><a href='javascript:1'>") == ["script", "a href"]
    assert active_parts("<svg onload=1><img src=x>") == ["svg onload", "img src"]


def test_what_is_left_behind_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = watch.left_behind()
    (tmp_path / f"{MARK}_1").touch()
    assert watch.left_behind() - before == {str(tmp_path / f"{MARK}_1")}
