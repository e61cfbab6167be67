"""One notebook before the judge: cells run in their order, each exercise judged in its turn.

What ends a session costs the cell or the exercise that ended it; a new session then takes up the
rest without it. An exercise that does not pass is asked again in a session that ran only what its
answer needs, so that nothing else in the notebook can spoil it. The better of the two counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.asking import Asker
from autograder.catalogue import of_chapter
from autograder.cellcode import forbidden_in
from autograder.celltext import assigns, defines
from autograder.conversation import Conversation, Session
from autograder.faults import FaultKind, SessionEnded
from autograder.forbidden import reason
from autograder.intake import CHECK, Intake
from autograder.judge import judge
from autograder.limits import Limits
from autograder.needed import bare_cells, needed_cells
from autograder.outcome import missing, without_record
from autograder.outputs import Output
from autograder.score import Score
from autograder.spec import Exercise
from autograder.standins import Helping, used_exercises
from autograder.verdict import Report, Verdict

Open = Callable[[], Session]
ENDED_BY = {
    FaultKind.TIME: Verdict.TIME,
    FaultKind.MEMORY: Verdict.MEMORY,
    FaultKind.OUTPUT: Verdict.OUTPUT,
}


SETTLED = (Verdict.PASS, Verdict.FORBIDDEN, Verdict.GRADER_ERROR)


@dataclass
class Sitting:
    """A notebook, the exercises in it, and what is needed to judge them.

    intake  its notebook's cells get their outputs here
    open    starts a session in which nothing has run
    """

    intake: Intake
    chapter: str
    open: Open
    seed: str
    limits: Limits
    reports: dict[str, Report] = field(default_factory=dict)
    culprits: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Start the clock."""
        self.until = time.monotonic() + self.limits.submission
        self.cells: list[Any] = list(self.intake.notebook.cells)

    def held(self) -> tuple[Report, ...]:
        """Judge every exercise and return the reports in the course's order."""
        exercises = of_chapter(self.chapter)
        self._in_order({one.id: one for one in exercises})
        for one in exercises:
            self.reports.setdefault(one.id, _out_of_time(one))
            self._again_alone(one)
        for one in exercises:
            self._with_standins(one)
        for cell in self.cells:
            _show(cell, self.reports)
        return tuple(self.reports[one.id] for one in exercises)

    # The notebook as it stands

    def _in_order(self, exercises: dict[str, Exercise]) -> None:
        talk: Conversation | None = None
        try:
            for at, cell in enumerate(self.cells):
                if cell.cell_type != "code":
                    continue
                if talk is None or talk.ended:
                    talk = self._caught_up(at)
                if self._is_late():
                    return
                exercise = exercises.get(_checked(cell))
                if not exercise:
                    self._run(at, talk)
                    continue
                self.reports[exercise.id] = self._judged(exercise, talk, ())
                if talk.ended and talk.ended.kind == FaultKind.TIME:
                    return  # what took the time may be at work in every cell: the rest goes alone
        finally:
            if talk:
                talk.session.end()

    def _caught_up(self, before: int) -> Conversation:
        """Start a session and run the cells before one again, without those that end it."""
        while True:
            talk = Conversation(self.open(), self.limits)
            for at in range(before):
                wanted = _is_student_code(self.cells[at]) and at not in self.culprits
                if wanted and not talk.ended and not self._is_late():
                    self._run(at, talk)
            if not talk.ended or self._is_late():
                return talk

    def _run(self, at: int, talk: Conversation) -> None:
        cell = self.cells[at]
        try:
            cell.outputs = talk.run(cell.source)
        except SessionEnded as ended:
            self.culprits.add(at)
            text = f"{ended}: the cells after this one ran without it"
            cell.outputs = [
                {"output_type": "error", "ename": ended.kind, "evalue": text, "traceback": [text]}
            ]

    def _is_late(self) -> bool:
        return time.monotonic() > self.until

    # One exercise

    def _judged(self, exercise: Exercise, talk: Conversation, standins: Sequence[str]) -> Report:
        refused = self._refused(exercise, talk, standins)
        if refused:
            return refused
        ask = Asker(talk, exercise, self.seed, self.until, standins, Helping(standins))
        return judge(exercise, ask, seed=self.seed)

    def _refused(
        self, exercise: Exercise, talk: Conversation, standins: Sequence[str]
    ) -> Report | None:
        """Say why an answer is not tried at all, or None."""
        try:
            kind = talk.look(exercise.id)
        except SessionEnded as ended:
            return _ended(exercise, ended)
        if kind == "missing":
            return self._missing(exercise)
        asked = "class" if exercise.is_class else "function"
        if kind != asked:
            text = f"{exercise.id} is to be a {asked}; what the notebook has is a {kind}."
            return without_record(exercise, Verdict.WRONG, text)
        found = forbidden_in(self._code(exercise), exercise.id, exercise.forbidden, standins)
        return without_record(exercise, Verdict.FORBIDDEN, reason(*found)) if found else None

    def _code(self, exercise: Exercise) -> list[str]:
        """Give the texts of the cells that run before an exercise is checked."""
        before = self.cells[: self.intake.checks[exercise.id]]
        return [cell.source for cell in before if _is_student_code(cell)]

    def _missing(self, exercise: Exercise) -> Report:
        answer = self.intake.answers.get(exercise.id)
        own = [cell for cell in self.cells if cell.get("id") == exercise.id]
        outputs = own[0].get("outputs", []) if own else []
        return missing(exercise, answer, outputs)

    def _again_alone(self, exercise: Exercise) -> None:
        """Try what did not pass without what else is in the notebook."""
        needed = needed_cells(self.cells, exercise.id)
        bare = bare_cells(self.cells, exercise.id)
        for cells in [needed] if bare == needed else [needed, bare]:
            if self.reports[exercise.id].verdict in SETTLED or self._is_stub(exercise):
                return
            self._consider(self._alone(exercise, cells, ()))

    def _is_stub(self, exercise: Exercise) -> bool:
        answer = self.intake.answers.get(exercise.id, "")
        return not (defines(answer, exercise.id) or assigns(answer, exercise.id))

    def _alone(self, exercise: Exercise, cells: Sequence[int], standins: Sequence[str]) -> Report:
        """Judge an exercise in a session that runs the given cells only."""
        if self._is_late():
            return self.reports[exercise.id]
        talk = Conversation(self.open(), self.limits)
        try:
            for at in cells:
                shown = talk.run(self.cells[at].source)
                self.cells[at].outputs = self.cells[at].outputs or shown
                if self._is_late():
                    return self.reports[exercise.id]
            return self._judged(exercise, talk, standins)
        except SessionEnded as ended:
            return _ended(exercise, ended)
        finally:
            talk.session.end()

    def _with_standins(self, exercise: Exercise) -> None:
        """Let one wrong answer cost only itself: use the course's version where one is called."""
        own = self.reports[exercise.id]
        used = used_exercises(self._code(exercise), exercise.id, self.intake.answers)
        here = [name for name in used if name in self.reports]  # not those of other chapters
        weak = [name for name in here if self.reports[name].verdict != Verdict.PASS]
        if own.verdict == Verdict.PASS or not weak or self._is_stub(exercise):
            return
        names = " and ".join(f"`{name}`" for name in weak)
        note = f"Judged with the course's own {names}; with yours it gets {own.score:g} points."
        other = self._alone(exercise, needed_cells(self.cells, exercise.id), weak)
        self._consider(replace(other, diagnosis=f"{note} {other.diagnosis}".strip()))

    def _consider(self, report: Report) -> None:
        """Keep a report if it is better than the one there is."""
        if report.score > self.reports[report.exercise].score:
            self.reports[report.exercise] = report


def _checked(cell: Any) -> str:
    """Name the exercise that a check cell is for, or nothing."""
    grading = cell.metadata.get("nbgrader", {})
    return str(grading["grade_id"]).removeprefix(CHECK) if grading.get("grade") else ""


def _is_student_code(cell: Any) -> bool:
    return cell.cell_type == "code" and not _checked(cell)


def _ended(exercise: Exercise, ended: SessionEnded) -> Report:
    return without_record(exercise, ENDED_BY.get(ended.kind, Verdict.EXITED), str(ended))


def _out_of_time(exercise: Exercise) -> Report:
    text = "The notebook ran out of time before this exercise was reached."
    return without_record(exercise, Verdict.TIME, text)


def _show(cell: Any, reports: dict[str, Report]) -> None:
    """Put the report of a check cell's exercise where its output belongs."""
    report = reports.get(_checked(cell))
    if report:
        shown: Output = {"output_type": "execute_result", "execution_count": None, "metadata": {}}
        cell.outputs = [{**shown, "data": Score(report)._repr_mimebundle_()}]
