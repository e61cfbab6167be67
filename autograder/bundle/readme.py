"""The page that a student finds in the bundle, in plain words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.spec import Exercise

NOTEBOOK = "             the notebook; the only file that you change"
WORDS = {
    "autograder": "the check; it compares your numbers with recorded ones",
    "book": "how the figures of the notebook look, and the data that it reads",
    "solutions": "given code that the notebook imports",
}

TEXT = """\
{chapter}
{line}

A notebook with {count} exercises. A check tells you at once which behaviours of
your answers hold, and what is likely wrong.


Start
-----
1. Unzip everything into one folder, and keep it together. A notebook that is
   opened inside the zip, or moved away from its folders, cannot find the check.
2. Python 3.11 or later is needed, with torch and numpy for the check, and with
   matplotlib, altair and Jupyter for the notebook:

       python -m pip install torch numpy matplotlib altair jupyterlab

3. Open the notebook, in Jupyter or VS Code:

       jupyter lab {chapter}.ipynb

4. Run the cells from the top. Write your answer where a cell says
   `raise NotImplementedError`, run it, and run the check cell below it.
5. Hand in the notebook alone, {chapter}.ipynb.

On Colab: open the notebook by "Upload notebook", put the zip into the folder at
the left, and run this in a new first cell:

       !unzip -q {chapter}.zip
       %cd {chapter}


What is in it
-------------
{contents}

The exercises:

{exercises}

The answers are not in here. The check knows what should come out for the inputs
that it shows you, and what well-known mistakes give. Your instructor grades
with other inputs of the same kinds, so compute the right thing for any input.

Under its table the check shows how many points of the chapter you have. For
that it keeps the points of each exercise, and nothing of your answers, in a
file of your account, transformer-course/progress.jsonl: on Linux in
~/.local/state, on macOS in ~/Library/Application Support, on Windows in
%LOCALAPPDATA%. You may delete it. If the variable COURSE_PROGRESS is set to
the path of another file, that is taken; if it is empty, nothing is kept.


If something is missing
-----------------------
No module named 'autograder', or the first cell says "Installing git+https..."
      The notebook is not beside the folder autograder/. Put it back there, and
      open it there. Python must run in that folder too: where it does, the
      lines import os and print(os.getcwd()) show.
No module named 'torch', or another name
      The notebook runs in another Python than the one you installed into. Run
      %pip install torch numpy matplotlib altair in a cell, and restart the
      kernel.
"files ... are missing or damaged"
      Copy your notebook to a safe place. Unzip again into a new folder, and put
      your notebook there in the place of the empty one.
"the inputs of the public seed alone"
      Call check(your_function) without a seed.
A check that stays wrong although you are sure
      Read the inputs that it names, and try your function on such inputs by
      hand. Then ask your instructor, with the table that the check shows.
"""


def readme(chapter: str, exercises: Sequence[Exercise], folders: Collection[str]) -> str:
    """Write the README of a chapter's bundle.

    folders  what the bundle holds beside the notebook
    """
    longest = max(len(one.id) for one in exercises)
    rows = (f"    {one.id:<{longest}}  {_points(one):<8}  {one.title}" for one in exercises)
    contents = (f"{name + '/':<13}{WORDS[name]}" for name in sorted(folders))
    return TEXT.format(
        chapter=chapter,
        line="=" * len(chapter),
        count=len(exercises),
        exercises="\n".join(rows),
        contents="\n".join((f"{chapter}.ipynb", NOTEBOOK, *contents)),
    )


def _points(exercise: Exercise) -> str:
    return "1 point" if exercise.points == 1 else f"{exercise.points} points"
