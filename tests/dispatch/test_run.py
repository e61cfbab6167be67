"""Each job gets exactly one outcome, whatever becomes of workers and executors."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.dispatch.run import Failed, WorkersDie, run

MISHAPS = {
    "raise": ValueError("the work failed"),
    "break": BrokenExecutor("a worker ended"),
    "cancel": CancelledError("the connection is lost"),
}


class Troubled:
    """Threads that do the work, and what a plan says goes wrong on the way to each job's result."""

    def __init__(self, plan: dict[int, list[str]]) -> None:
        self.plan = {job: list(mishaps) for job, mishaps in plan.items()}
        self.taken = 0
        self.settled = 0
        self.most_out = 0
        self.lock = threading.Lock()

    def jobs(self, count: int) -> Iterator[int]:
        for job in range(count):
            self.taken += 1
            self.most_out = max(self.most_out, self.taken - self.settled)
            yield job

    def work(self, job: int) -> int:
        with self.lock:
            mishap = self.plan[job].pop(0) if self.plan.get(job) else "none"
        if mishap != "none":
            raise MISHAPS[mishap]
        return job * job


mishaps = st.lists(st.sampled_from(["none", *MISHAPS]), max_size=6)
plans = st.dictionaries(st.integers(0, 19), mishaps, max_size=8)


@given(plan=plans, count=st.integers(0, 20), window=st.integers(1, 5), workers=st.integers(1, 3))
def test_each_job_has_one_outcome_and_an_innocent_one_its_result(plan, count, window, workers):
    trouble = Troubled(plan)
    outcomes = []
    found = run(trouble.jobs(count), trouble.work, lambda: ThreadPoolExecutor(workers), window)
    for job, outcome in found:
        trouble.settled += 1
        outcomes.append(job)
        if isinstance(outcome, Failed):
            assert set(plan.get(job, [])) & set(MISHAPS), "an innocent job was blamed"
        else:
            assert outcome == job * job
    assert sorted(outcomes) == list(range(count))
    assert trouble.most_out <= window


class Shelf(Executor):
    """Keeps what is submitted until a test settles it, and how it was shut down."""

    def __init__(self) -> None:
        self.jobs: dict[str, Future[str]] = {}
        self.shut: list[tuple[bool, bool]] = []

    def submit(self, work, job):
        self.jobs[job] = Future()
        return self.jobs[job]

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.shut.append((wait, cancel_futures))


class Shelves(list[Shelf]):
    """The executors that were made, in their order."""

    def make(self) -> Shelf:
        self.append(Shelf())
        return self[-1]


def test_what_was_out_when_the_executor_broke_is_handed_out_again_to_a_new_one():
    shelves = Shelves()
    found = run("abcd", str.upper, shelves.make, window=3)
    first = threading.Timer(0.1, lambda: shelves[0].jobs["b"].set_result("B"))
    first.start()
    assert next(found) == ("b", "B")
    assert sorted(shelves[0].jobs) == ["a", "b", "c"]
    threading.Timer(0.1, lambda: shelves[0].jobs["a"].set_exception(BrokenExecutor())).start()
    threading.Timer(0.3, lambda: [f.set_result("!") for f in shelves[1].jobs.values()]).start()
    assert sorted(found) == [("a", "!"), ("c", "!"), ("d", "!")]
    assert shelves[0].shut == [(False, True)]
    assert shelves[1].shut == [(True, False)]


class Diary(Executor):
    """Fails each try of "k" at once, and settles "x" only after the third; notes what it is given.

    Futures that are settled wait in a line, so the order in which they are seen is certain.
    """

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.held: Future[str] = Future()

    def submit(self, work, job):
        self.notes.append(f"try {job}")
        if job == "x":
            return self.held
        future: Future[str] = Future()
        if job == "k":
            future.set_exception(ValueError(job))
        else:
            future.set_result(job)
        if self.notes.count("try k") == 3 and not self.held.done():
            threading.Timer(0.1, lambda: self.held.set_result("x")).start()
        return future


def test_a_suspect_waits_until_nothing_is_out_and_nothing_is_handed_out_beside_it():
    notes: list[str] = []
    for job, _ in run("kxyz", str, lambda: Diary(notes), window=2):
        notes.append(f"got {job}")
    tries = ["try k", "try x", "try k", "try k", "got x", "try k", "got k"]
    assert notes == [*tries, "try y", "try z", "got y", "got z"]


def test_a_job_is_tried_three_times_and_once_alone():
    tries: Counter[str] = Counter()

    def work(job: str) -> str:
        tries[job] += 1
        raise ValueError(job)

    ((_, failed),) = run(["x"], work, lambda: ThreadPoolExecutor(1), window=2)
    assert failed == Failed("ValueError: x")
    assert tries["x"] == 4


def test_a_long_reason_is_cut_and_stands_on_one_line():
    def work(_: str) -> str:
        raise ValueError("line\n" * 1000)

    ((_, failed),) = run(["x"], work, lambda: ThreadPoolExecutor(1), window=2)
    assert len(failed.reason) < 320
    assert "\n" not in failed.reason


def test_ten_given_up_in_a_row_stop_the_batch_after_they_were_told():
    def work(_: int) -> int:
        raise BrokenExecutor("no memory")

    told: list[object] = []
    found = run(range(100), work, lambda: ThreadPoolExecutor(1), window=2)
    with pytest.raises(WorkersDie, match=r"10 submissions in a row .* no memory"):
        told.extend(found)
    assert len(told) == 10


def test_nine_given_up_in_a_row_do_not():
    def work(job: int) -> int:
        if job % 10:
            raise ValueError(job)
        return job

    outcomes = list(run(range(40), work, lambda: ThreadPoolExecutor(1), window=1))
    assert len(outcomes) == 40


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_lets_the_workers_go_at_once_and_goes_on(error):
    shelves = Shelves()

    def jobs() -> Iterator[str]:
        yield "a"
        raise error("stop")

    with pytest.raises(error, match="stop"):
        list(run(jobs(), str.upper, shelves.make, window=2))
    assert shelves[0].shut == [(False, True)]
    assert shelves[0].jobs["a"].cancelled()


def test_a_batch_that_is_closed_hands_out_no_more():
    shelves = Shelves()
    found = run("abc", str.upper, shelves.make, window=1)
    threading.Timer(0.1, lambda: shelves[0].jobs["a"].set_result("A")).start()
    assert next(found) == ("a", "A")
    found.close()
    assert list(shelves[0].jobs) == ["a"]
    assert shelves[0].shut == [(False, True)]


def test_an_executor_that_cannot_be_made_is_told():
    def make() -> Executor:
        raise OSError("no such scheduler")

    with pytest.raises(OSError, match="no such scheduler"):
        list(run("a", str.upper, make, window=1))


def test_without_jobs_no_executor_is_made():
    shelves = Shelves()
    assert list(run([], str.upper, shelves.make, window=1)) == []
    assert shelves == []
