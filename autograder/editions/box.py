"""The text around an exercise, from its spec: the same words in every edition."""

from __future__ import annotations

from autograder.editions.source import clean_answer, signature
from autograder.spec import Exercise


def facts(exercise: Exercise) -> str:
    """Write "4 points, about 10 minutes, difficulty 2 of 5"."""
    points = "1 point" if exercise.points == 1 else f"{exercise.points} points"
    return f"{points}, about {exercise.minutes} minutes, difficulty {exercise.difficulty} of 5"


def book_box(exercise: Exercise, *, with_solution: bool) -> str:
    """Write the box of the web book in MyST: an admonition with folded hints."""
    parts = [
        f"(exercise-{exercise.id})=",
        f"::::::{{admonition}} Exercise: {exercise.title}",
        ":class: exercise",
        "",
        f"**`{exercise.id}`**: {facts(exercise)}.",
        "",
        *_body(exercise, code="```python\n" + signature(exercise) + "\n```"),
    ]
    for number, hint in enumerate(exercise.hints, start=1):
        parts += [_dropdown(f"Hint {number}", hint), ""]
    if with_solution:
        parts += [_dropdown("Solution", "```python\n" + clean_answer(exercise) + "\n```"), ""]
    return "\n".join([*parts, "::::::", ""])


def notebook_box(exercise: Exercise) -> str:
    """Write the cell above a stub: plain Markdown, which every notebook program shows."""
    parts = [
        f"### Exercise: {exercise.title}",
        "",
        f"**`{exercise.id}`**: {facts(exercise)}.",
        "",
        *_body(exercise, code=""),
    ]
    for number, hint in enumerate(exercise.hints, start=1):
        parts += [f"<details><summary>Hint {number}</summary>\n\n{hint}\n\n</details>", ""]
    return "\n".join(parts).rstrip()


def _body(exercise: Exercise, code: str) -> list[str]:
    parts = [exercise.statement, ""]
    if code:
        parts += [code, ""]
    parts += [f"**By hand.** {exercise.example}", ""]
    if exercise.conventions:
        parts += ["**Conventions**", "", *_items(exercise.conventions), ""]
    behaviours = [case.behaviour for case in exercise.cases]
    return [*parts, "**What is checked**", "", *_items(behaviours), ""]


def _items(texts: tuple[str, ...] | list[str]) -> list[str]:
    return [f"- {text}" for text in texts]


def _dropdown(title: str, text: str) -> str:
    return f":::::{{dropdown}} {title}\n{text}\n:::::"
