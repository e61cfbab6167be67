"""Chapter -> page of the web book."""

from __future__ import annotations

from autograder.catalogue import exercise as find
from autograder.editions.box import book_box
from autograder.editions.chapter import replace_exercises

EDITIONS = ("class", "self-study")


def expand(text: str, chapter: str, edition: str) -> str:
    """Replace each exercise cell by its box; the import itself still runs, unseen.

    text     the chapter as it stands in book/
    chapter  its name, for error messages
    edition  "class" (no answer enters the page) or "self-study" (answers folded beneath)

    Raises ValueError for an unknown edition.
    """
    if edition not in EDITIONS:
        raise ValueError(f"{chapter}: edition {edition!r} is none of {', '.join(EDITIONS)}")

    def box(exercise_id: str, cell: str) -> str:
        hidden = cell.replace(f":exercise: {exercise_id}\n", ":tags: [remove-cell]\n")
        shown = book_box(find(exercise_id), with_solution=edition == "self-study")
        return f"{shown}\n{hidden}"

    return replace_exercises(text, box)
