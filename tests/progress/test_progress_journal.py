"""The file of a student's progress: the best counts, in any order, whatever else is in the file."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.progress.journal import Journal, best_of, read_journal, write_entry

NAMES = st.sampled_from(["softmax", "glu", "kv_cache_bytes"])
SCORES = st.floats(0, 9, allow_nan=False)
ENTRIES = st.lists(st.tuples(NAMES, SCORES), max_size=12)


def written(path: Path, entries: list[tuple[str, float]]) -> Journal:
    path.unlink(missing_ok=True)
    for exercise, score in entries:
        write_entry(path, exercise, score)
    return read_journal(path)


@given(ENTRIES)
def test_the_best_score_of_each_exercise_is_kept(entries):
    best = best_of(entries)
    assert best.keys() == {exercise for exercise, _ in entries}
    assert all(score <= best[exercise] for exercise, score in entries)
    assert set(best.items()) <= set(entries)


@given(ENTRIES, st.randoms())
def test_neither_order_nor_repetition_matters(entries, random):
    shuffled = [*entries, *entries[:3]]
    random.shuffle(shuffled)
    assert best_of(shuffled) == best_of(entries)


@given(ENTRIES, ENTRIES)
def test_two_files_in_one_say_what_each_says_at_its_best(entries, others):
    both = best_of([*best_of(entries).items(), *best_of(others).items()])
    assert both == best_of([*entries, *others])


@given(entries=ENTRIES)
def test_what_is_written_is_read(tmp_path_factory, entries):
    path = tmp_path_factory.mktemp("journal") / "deeper" / "progress.jsonl"
    assert written(path, entries) == Journal(best_of(entries))


@given(entries=ENTRIES, end=st.integers(0, 2000))
def test_a_line_that_was_cut_off_costs_no_other(tmp_path_factory, entries, end):
    path = tmp_path_factory.mktemp("journal") / "progress.jsonl"
    written(path, [*entries, ("swish", 1.0)])
    path.write_bytes(path.read_bytes()[: -2 - end % 20])
    write_entry(path, "gelu", 2.0)
    journal = read_journal(path)
    assert journal.best == {**best_of(entries), "gelu": 2.0}
    assert len(journal.damaged) <= 1


@given(rubbish=st.binary(max_size=200))
def test_no_bytes_are_too_much(tmp_path_factory, rubbish):
    path = tmp_path_factory.mktemp("journal") / "progress.jsonl"
    path.write_bytes(rubbish)
    write_entry(path, "gelu", 2.0)
    assert read_journal(path).best["gelu"] == 2


@pytest.mark.parametrize(
    "line",
    [
        "[]", "{", '"softmax"', '{"exercise": "a"}', '{"exercise": 1, "score": 1}', "[" * 100_000,
        '{"exercise": "a", "score": NaN}', '{"exercise": "a", "score": Infinity}',
        '{"exercise": "a", "score": -1}', '{"exercise": "a", "score": true}',
        '{"exercise": "a", "score": "4"}',
    ],
)  # fmt: skip
def test_a_line_that_says_nothing_is_named_by_its_number(tmp_path, line):
    path = tmp_path / "progress.jsonl"
    write_entry(path, "softmax", 3.0)
    path.write_text(path.read_text() + line)
    assert read_journal(path) == Journal({"softmax": 3.0}, damaged=(3,))


def test_a_file_that_is_not_there_says_nothing(tmp_path):
    assert read_journal(tmp_path / "nothing") == Journal()


MANY = """
import sys
from pathlib import Path
from autograder.progress.journal import write_entry
for number in range(200):
    write_entry(Path(sys.argv[1]), f"{sys.argv[2]}-{number}", number)
"""


def test_kernels_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "progress.jsonl"
    command = [sys.executable, "-c", MANY, str(path)]
    processes = [subprocess.Popen([*command, name]) for name in ("a", "b", "c")]
    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0]
    journal = read_journal(path)
    assert journal.damaged == ()
    assert journal.best == {f"{name}-{n}": n for name in ("a", "b", "c") for n in range(200)}
