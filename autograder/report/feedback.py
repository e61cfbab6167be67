"""A student's page about one graded submission: HTML in one file, without scripts.

All text on it is escaped, also what our own judge wrote: a message may quote a student's value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.report.allowance import Allowance
from autograder.report.outputs import ERROR, PICTURE, cell_of, code_outputs, shown
from autograder.report.stylesheet import STYLE
from autograder.verdict import Verdict

Record = Mapping[str, Any]

LARGEST_BYTES = 300_000
FRAME_BYTES = 90_000  # the style, and the tags around the most that the limits below let in
MOST_CASES, MOST_OUTPUTS, MOST_NOTES = 40, 30, 60  # each, whatever a record holds
MOST_EXERCISES = 40
LINE, BLOCK = 2_000, 12_000  # characters of one text

WORDS = {
    Verdict.PASS: ("good", "All behaviours hold."),
    Verdict.WRONG: ("bad", "Some results are wrong."),
    Verdict.EXCEPTION: ("bad", "The code stopped with an error."),
    Verdict.TIME: ("bad", "The code took too long and was stopped."),
    Verdict.MEMORY: ("bad", "The code asked for too much memory and was stopped."),
    Verdict.OUTPUT: ("bad", "The code printed too much and was stopped."),
    Verdict.EXITED: ("bad", "Python ended before the answer was given."),
    Verdict.NOT_ANSWERED: ("bad", "No answer was found."),
    Verdict.FORBIDDEN: ("bad", "The answer uses something that this exercise does not allow."),
    Verdict.GRADER_ERROR: (
        "wait",
        "Not graded yet: the grader itself failed. It costs you no points, and your instructor "
        "is told.",
    ),
}


@dataclass(frozen=True)
class ByHand:
    """What the gradebook holds besides the judge's points.

    points    exercise -> the points that count, where they are not the judge's
    comments  exercise -> what a person wrote
    penalty   points taken off the sum for being late
    """

    points: Mapping[str, float] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    penalty: float = 0.0


NOTHING = ByHand()


def feedback_page(
    record: Record, notebook: Mapping[str, Any] | None, by_hand: ByHand = NOTHING
) -> str:
    """Write the page of one graded submission; at most LARGEST_BYTES in UTF-8.

    notebook  as it was executed; None if nothing could be
    """
    room = Allowance(LARGEST_BYTES - FRAME_BYTES)
    page = _Page(record, notebook, by_hand, room)
    title = f"{room.text(record.get('chapter') or 'Feedback', LINE)}: feedback"
    foot, head, notes = page.foot(), page.head(), page.notes()  # these first: they must fit
    body = "\n".join([head, *page.exercises(), notes, foot])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


@dataclass
class _Page:
    record: Record
    notebook: Mapping[str, Any] | None
    by_hand: ByHand
    room: Allowance

    def head(self) -> str:
        record, text = self.record, self.room.text
        who = text(record.get("student", ""), LINE)
        lines = [
            f'<p class="who">{who}</p>' if who else "",
            f"<h1>{text(record.get('chapter') or 'Unknown chapter', LINE)}</h1>",
            self._total(),
        ]
        if record.get("error"):
            lines += [*self._unreadable(record["error"])]
        else:
            rows = "\n".join(self._row(one) for one in self._reports())
            lines += [f'<ul class="list">\n{rows}\n</ul>']
        return "\n".join(filter(None, lines))

    def exercises(self) -> Iterator[str]:
        if not self.record.get("error"):
            yield from (self._exercise(one) for one in self._reports())

    def notes(self) -> str:
        notes = self.record.get("notes", [])[:MOST_NOTES]
        if not notes:
            return ""
        items = "".join(f"<li>{self.room.text(note, LINE)}</li>\n" for note in notes)
        return f"<section>\n<h3>How your file was read</h3>\n<ul>\n{items}</ul>\n</section>"

    def foot(self) -> str:
        record = self.record
        facts = {
            "Time taken": f"{record.get('seconds', 0):.1f} s",
            "Sandbox": record.get("sandbox", ""),
            "Submission (SHA-256)": record.get("submission", ""),
            "Version of the assignment": record.get("version", ""),
            "Id of the seed": record.get("seed_id", ""),
        }
        rows = "\n".join(
            f"<dt>{name}</dt><dd>{self.room.text(value, LINE)}</dd>"
            for name, value in facts.items()
            if value
        )
        return f'<footer class="small">\n<dl>\n{rows}\n</dl>\n</footer>'

    # The parts of the head

    def _reports(self) -> Sequence[Record]:
        reports: list[Record] = self.record.get("exercises", [])
        return reports[:MOST_EXERCISES]

    def _total(self) -> str:
        reports = self._reports()
        won = sum(self._points(one) for one in reports) - self.by_hand.penalty
        most = self.record.get("max_score", 0)
        open_ = any(_is_open(one, self.by_hand) for one in reports)
        lines = [f"<b>{max(won, 0.0):g}</b> of {most:g} points{' so far' if open_ else ''}"]
        if self.by_hand.penalty:
            lines.append(f"{self.by_hand.penalty:g} points were taken off for handing in late")
        return f'<p class="total">{", ".join(lines)}</p>'

    def _points(self, report: Record) -> float:
        return float(self.by_hand.points.get(report["id"], report["score"]))

    def _row(self, report: Record) -> str:
        colour, _ = WORDS[Verdict(report["verdict"])]
        name = self.room.text(report["id"], LINE)
        verdict = self.room.text(report["verdict"], LINE)
        return (
            f'<li><a href="#{name}"><span>{name}</span><span><span class="{colour}">{verdict}'
            f"</span> &middot; {self._of(report)}</span></a></li>"
        )

    def _of(self, report: Record) -> str:
        if _is_open(report, self.by_hand):
            return f"open, {report['max_score']:g} points"
        return f"{self._points(report):g} of {report['max_score']:g}"

    def _unreadable(self, why: Any) -> list[str]:
        return [
            "<section>",
            '<p class="verdict bad">This submission could not be read.</p>',
            f'<p class="message">{self.room.text(why, LINE)}</p>',
            "<p>Open the notebook in Jupyter, save it, look that it runs from top to bottom, and "
            "hand in that file. If you think that it was right, write to your instructor.</p>",
            "</section>",
        ]

    # The parts of an exercise

    def _exercise(self, report: Record) -> str:
        colour, words = WORDS[Verdict(report["verdict"])]
        name = self.room.text(report["id"], LINE)
        lines = [
            f'<section id="{name}">',
            f'<div class="head"><h2>{name}</h2><span>{self._of(report)}</span></div>',
            f'<p class="verdict {colour}">{words}</p>',
            *self._hint(report),
            *self._by_hand(report),
            *([] if _is_unjudged(report) else self._cases(report.get("cases", [])[:MOST_CASES])),
            *self._titled("Your code printed", self._block(report.get("printed", ""))),
            *self._answer(report["id"]),
            "</section>",
        ]
        return "\n".join(lines)

    def _hint(self, report: Record) -> Iterator[str]:
        if report.get("diagnosis"):
            yield f'<p class="hint message">{self.room.text(report["diagnosis"], LINE)}</p>'

    def _by_hand(self, report: Record) -> Iterator[str]:
        name = report["id"]
        if name in self.by_hand.points:
            judged = "" if _is_unjudged(report) else f" (the checks gave {report['score']:g})"
            yield f"<p>These points stand in your instructor's gradebook{judged}.</p>"
        if name in self.by_hand.comments:
            comment = self.room.text(self.by_hand.comments[name], BLOCK)
            yield f'<h3>From your instructor</h3>\n<p class="message">{comment}</p>'

    def _cases(self, cases: Sequence[Record]) -> Iterator[str]:
        before = ["", *(case.get("message", "") for case in cases)]
        items = "\n".join(self._case(*pair) for pair in zip(cases, before, strict=False))
        if items:
            yield f'<h3>What was checked</h3>\n<ul class="cases">\n{items}\n</ul>'

    def _case(self, case: Record, before: str) -> str:
        text = self.room.text
        good = case["passed"] is True
        mark = '<span class="mark good">&#10003; yes</span>'
        if not good:
            mark = '<span class="mark bad">&#10007; no</span>'
        parts = [f"<li>{mark}{text(case['behaviour'], LINE)}"]
        if case.get("message") and not good:
            message = "the same" if case["message"] == before else case["message"]
            parts.append(f'<div class="message">{text(message, LINE)}</div>')
        if case.get("inputs"):
            parts.append(f'<div class="small">on {text(case["inputs"], LINE)}</div>')
        return "".join([*parts, "</li>"])

    def _answer(self, exercise: str) -> Iterator[str]:
        cell = cell_of(self.notebook, exercise)
        if cell is None:
            return
        yield from self._titled("Your answer", self._block(cell.get("source", "")))
        outputs = code_outputs(cell)[:MOST_OUTPUTS]
        blocks = "\n".join(filter(None, (self._output(*one) for o in outputs for one in shown(o))))
        yield from self._titled("Its output", blocks)

    def _output(self, kind: str, content: str) -> str:
        if kind != PICTURE:
            return self._block(content, "error" if kind == ERROR else "")
        if not self.room.picture(content):
            return self._block("(A picture was left out: this page would grow too large.)")
        return f'<img alt="A picture that your code drew" src="data:image/png;base64,{content}">'

    def _block(self, content: Any, kind: str = "") -> str:
        written = self.room.text(content, BLOCK).rstrip()
        opening = f'<pre class="{kind}">' if kind else "<pre>"
        # The first line break after <pre> is dropped by browsers: it is one of ours.
        return f"{opening}\n{written}</pre>" if written else ""

    def _titled(self, title: str, content: str) -> Iterator[str]:
        if content:
            yield f"<h3>{title}</h3>\n{content}"


def _is_unjudged(report: Record) -> bool:
    return bool(report["verdict"] == Verdict.GRADER_ERROR)


def _is_open(report: Record, by_hand: ByHand) -> bool:
    """Whether nobody has given points yet."""
    return _is_unjudged(report) and report["id"] not in by_hand.points
