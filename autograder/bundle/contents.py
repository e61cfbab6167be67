"""What goes into a class bundle: the notebook, what it imports, and the check without answers."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.bundle.modules import imports, needed
from autograder.bundle.readme import readme
from autograder.bundle.record import recorded_files
from autograder.catalogue import exercises, of_chapter
from autograder.celltext import parsed
from autograder.course import Course
from autograder.spec import Exercise
from autograder.usage import UsageError

CHECK = ("autograder", "autograder.checking", "autograder.recorded", "autograder.readymade")
LICENSES = ("LICENSE", "LICENSE-text")
RECORDED = "autograder/exercises/recorded"  # a chapter's package, as the catalogue finds it

PACKAGE = '''\
"""The exercises of chapter {chapter}, as recorded for the public seed: data, no answers."""

ORDER = {order}
'''
MODULE = '''\
"""The exercise `{name}`."""

from pathlib import Path

from autograder.readymade import READY_MADE
from autograder.recorded import read_exercise

EXERCISE = read_exercise(Path(__file__).parent / "data" / "{name}", READY_MADE.get("{name}"))
'''


def bundle_files(course: Course, chapter: str) -> dict[str, bytes]:
    """Give the files of the bundle of a chapter, by their path in the zip.

    Raises UsageError if the chapter has no notebook, and ValueError if the notebook or the check
    needs a module that students must not have.
    """
    notebook = _notebook(course, chapter)
    asked = of_chapter(chapter)
    files = {f"{chapter}.ipynb": notebook, **_exercises(chapter, asked)}
    for module in _modules(course.root, chapter, notebook):
        for file in (module, *_data_of(module)):
            files[file.relative_to(course.root).as_posix()] = file.read_bytes()
    folders = {path.split("/")[0] for path in files if "/" in path}
    files["README.txt"] = readme(chapter, asked, folders).encode()
    for name in LICENSES:
        files[name] = (course.root / name).read_bytes()
    return {f"{chapter}/{path}": content for path, content in files.items()}


def _notebook(course: Course, chapter: str) -> bytes:
    path = course.student_notebook(chapter)
    if not path.is_file():
        raise UsageError(f"there is no notebook {path}; make it with `course notebooks`")
    return path.read_bytes()


def _modules(root: Path, chapter: str, notebook: bytes) -> list[Path]:
    """Find the files of all modules that the notebook and the check need."""
    known = exercises().values()
    found = needed(root, {*CHECK, *_imported(notebook)})
    answers = {one.solution.__module__ for one in known if one.chapter >= chapter}
    specs = {name for name in found if name.startswith("autograder.exercises.")}
    kept_back = sorted((answers & found.keys()) | specs)
    if kept_back:
        raise ValueError(f"the bundle of {chapter} would hold answers: {', '.join(kept_back)}")
    return [*found.values()]


def _data_of(module: Path) -> list[Path]:
    """List the files that a module reads: in book/data, those beside it with its name."""
    beside = module.parent.glob(f"{module.stem}.*") if module.parent.name == "data" else ()
    return sorted(path for path in beside if path != module)


def _imported(notebook: bytes) -> set[str]:
    """Name what the code cells of a notebook import."""
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    texts = ["".join(cell["source"]) for cell in cells]
    return {name for text in texts for name in imports(parsed(text)[0])}


def _exercises(chapter: str, asked: list[Exercise]) -> dict[str, bytes]:
    """Write the package that the catalogue finds in the bundle, in the place of ours."""
    order = tuple(one.id for one in asked)
    files = {"__init__.py": PACKAGE.format(chapter=chapter, order=order).encode()}
    for one in asked:
        files[f"{one.id}.py"] = MODULE.format(name=one.id).encode()
        for name, content in recorded_files(one).items():
            files[f"data/{one.id}/{name}"] = content
    return {f"{RECORDED}/{path}": content for path, content in files.items()}
