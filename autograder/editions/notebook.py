"""Chapter -> instructor notebook, from which nbgrader's own steps make the student's."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.catalogue import exercise as find
from autograder.editions.bibliography import citations
from autograder.editions.box import notebook_box
from autograder.editions.chapter import Cell, read_cells
from autograder.editions.plain import Plain, equation_numbers
from autograder.editions.source import answer
from autograder.spec import Exercise

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

# What a notebook imports, and where it comes from. The course's package brings the others; beside a
# bundle, where the package lies in a folder, they may be missing alone.
SOURCES = {
    "autograder": "git+{repository}@{branch}",
    "torch": "torch",
    "numpy": "numpy",
    "matplotlib": "matplotlib",
    "altair": "altair",
}

INSTALL = """\
# On Colab and other fresh machines: install what is missing.
from importlib.util import find_spec

sources = {{
{sources}
}}
missing = [sources[name] for name in sources if find_spec(name) is None]
if missing:
    print("Installing", *missing)
    %pip install -q {{" ".join(missing)}}"""

LICENCE = """\
---

The code of this notebook is under the MIT licence. Its text and figures are under
[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/)."""


def first_cell(repository: str, branch: str) -> str:
    """Write the cell that installs what is missing, and says so; mostly it does nothing."""
    lines = [f'    "{name}": "{source}",' for name, source in SOURCES.items()]
    sources = "\n".join(lines).format(repository=repository, branch=branch)
    return INSTALL.format(sources=sources)


def instructor_notebook(chapter: Path, repository: str, branch: str) -> Any:
    """Make the notebook with answers between nbgrader's markers, and check cells.

    chapter             the MyST file in book/
    repository, branch  where a fresh machine installs the course package from
    """
    text = chapter.read_text(encoding="utf-8")
    plain = Plain(equation_numbers(text), citations(chapter.parent / "references.bib"))
    install = new_code_cell(first_cell(repository, branch))
    title, *rest = read_cells(text)
    cells = [*_cells(title, plain), install]
    for cell in rest:
        cells += _cells(cell, plain)
    cells.append(new_markdown_cell(LICENCE))
    notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "course": chapter.stem})
    notebook.nbformat_minor = 5
    return _with_stable_ids(notebook)


def _cells(cell: Cell, plain: Plain) -> list[Any]:
    if cell.exercise:
        return _exercise_cells(find(cell.exercise))
    if cell.kind == "markdown":
        return [new_markdown_cell(plain.markdown(cell.source))]
    metadata = {"tags": list(cell.tags)} if cell.tags else {}
    return [new_code_cell(cell.source, metadata=metadata)]


def _exercise_cells(exercise: Exercise) -> list[Any]:
    points = {"points": exercise.points}
    return [
        new_markdown_cell(notebook_box(exercise)),
        new_code_cell(answer(exercise), metadata=_nbgrader(exercise.id, solution=True)),
        new_code_cell(
            f"from autograder import check\n\ncheck({exercise.id})",
            metadata=_nbgrader(f"check-{exercise.id}", grade=True, locked=True, **points),
        ),
    ]


def _nbgrader(grade_id: str, **flags: Any) -> dict[str, Any]:
    base = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**base, "grade_id": grade_id, **flags}}


def _with_stable_ids(notebook: Any) -> Any:
    """Name graded cells by their grade id, others by their content: same text, same bytes."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {}).get("grade_id")
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()
        name = graded or digest[:12]
        seen[name] = seen.get(name, 0) + 1
        cell["id"] = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return notebook


def write(notebook: Any, path: Path) -> bool:
    """Write a notebook if its bytes change; say whether they did."""
    nbformat.validate(notebook)
    text = nbformat.writes(notebook, indent=1, sort_keys=True) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return True
