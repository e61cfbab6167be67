"""Imports point one way. The table says who may know whom; any other edge fails."""

import ast
import sys
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("solutions", "autograder")

# A module (the first line that fits counts) -> which of our modules it may import, and with a "!"
# which of these it may not. {chapter} stands for the package that the module is in.
ALLOWED = {
    "solutions*": ("solutions.*",),
    "autograder": ("autograder.checking", "autograder.mine.switch", "autograder.score"),
    # what an exercise is, and how an answer is judged
    "autograder.faults": (),
    "autograder.lent": (),
    "autograder.workpiece": (),
    "autograder.wire": ("autograder.faults", "autograder.lent", "autograder.workpiece"),
    "autograder.limits": (),
    "autograder.verdict": (),
    "autograder.inputs": (),
    "autograder.dotted": (),
    "autograder.elsewhere": (),
    "autograder.faraway": ("autograder.elsewhere",),
    "autograder.watched": ("autograder.dotted",),
    "autograder.forbidden": ("autograder.dotted", "autograder.cellcode"),
    "autograder.spec": ("autograder.wire",),
    "autograder.frames": ("autograder.faults", "autograder.wire"),
    "autograder.perform": (
        "autograder.elsewhere",
        "autograder.faraway",
        "autograder.faults",
        "autograder.limits",
        "autograder.watched",
        "autograder.wire",
        "autograder.workpiece",
    ),
    "autograder.compare": ("autograder.faults", "autograder.spec", "autograder.wire"),
    "autograder.passages": ("autograder.compare", "autograder.spec", "autograder.wire"),
    "autograder.recorded": (
        "autograder.compare",
        "autograder.frames",
        "autograder.passages",
        "autograder.perform",
        "autograder.spec",
        "autograder.wire",
    ),
    "autograder.replies": (
        "autograder.perform",
        "autograder.recorded",
        "autograder.spec",
        "autograder.wire",
    ),
    "autograder.diagnose": (
        "autograder.compare",
        "autograder.perform",
        "autograder.replies",
        "autograder.spec",
        "autograder.wire",
    ),
    "autograder.judge": (
        "autograder.compare",
        "autograder.diagnose",
        "autograder.faults",
        "autograder.forbidden",
        "autograder.inputs",
        "autograder.perform",
        "autograder.recorded",
        "autograder.replies",
        "autograder.spec",
        "autograder.verdict",
        "autograder.wire",
    ),
    "autograder.exercises": (),
    "autograder.variations": ("autograder.inputs", "autograder.spec", "autograder.wire"),
    "autograder.slips": ("autograder.spec", "autograder.wire"),
    "autograder.torch_attention": (),
    "autograder.exercises.*": (
        "autograder.spec",
        "autograder.inputs",
        "autograder.variations",
        "autograder.slips",
        "autograder.torch_attention",
        "autograder.compare",
        "autograder.lent",
        "autograder.passages",
        "autograder.perform",  # for draws that no rounding may decide
        "autograder.wire",
        "autograder.workpiece",
        "solutions.*",
        "{chapter}",
        "{chapter}.*",
    ),
    "autograder.catalogue": ("autograder.exercises", "autograder.spec"),
    # what a student has reached: read and written beside the judge, which knows nothing of it
    "autograder.progress*": ("autograder.progress*", "autograder.catalogue", "autograder.spec"),
    # a student's own answers, in the place of the given ones
    "autograder.mine.own": (),
    "autograder.mine.switch": (
        "autograder.catalogue",
        "autograder.mine.own",
        "autograder.progress.place",
    ),
    "autograder.score": (
        "autograder.progress.standing",
        "autograder.report.html",
        "autograder.report.standing",
        "autograder.report.text",
        "autograder.verdict",
    ),
    "autograder.checking": (
        "autograder.borrowed",
        "autograder.catalogue",
        "autograder.forbidden",
        "autograder.judge",
        "autograder.perform",
        "autograder.progress.noting",
        "autograder.recorded",
        "autograder.score",
        "autograder.spec",
        "autograder.verdict",
    ),
    "autograder.borrowed": (
        "autograder.catalogue",
        "autograder.forbidden",
        "autograder.spec",
        "autograder.standins",
    ),
    "autograder.standins": (
        "autograder.catalogue",
        "autograder.cellcode",
        "autograder.faults",
        "autograder.perform",
        "autograder.spec",
        "autograder.wire",
    ),
    # the student's side of the wall: "tests never meet student code" is this line
    "autograder.runner*": (
        "autograder.runner*",
        "autograder.faults",
        "autograder.frames",
        "autograder.limits",
        "autograder.perform",
        "autograder.wire",
    ),
    # chapter -> book page, notebooks
    "autograder.editions*": ("autograder.editions*", "autograder.catalogue", "autograder.spec"),
    # those who know all; nobody but the command line knows them
    "autograder.cli*": ("autograder*",),
    "autograder.plugins*": ("autograder.*", "!autograder.cli*"),
    # the rest: everything except command line and plug-ins
    "autograder.*": ("autograder.*", "!autograder.cli*", "!autograder.plugins*"),
}

CORE = (
    "wire", "limits", "verdict", "inputs", "forbidden", "elsewhere", "spec", "perform", "compare",
    "diagnose", "judge", "catalogue", "frames", "watched", "replies", "recorded", "standins",
    "variations", "slips", "passages",
)  # fmt: skip
PROCESSES = {"subprocess", "multiprocessing", "socket", "concurrent", "asyncio", "requests"}
# Packages of others that a module may import beside the standard library.
OTHERS = {
    "solutions*": {"torch"},
    "autograder.verdict": set(),
    "autograder.limits": set(),
    "autograder.forbidden": set(),
    "autograder.elsewhere": {"torch"},
    "autograder.faraway": {"torch"},
    "autograder.wire": {"torch"},
    "autograder.lent": {"torch"},
    "autograder.workpiece": {"torch"},
    "autograder.spec": {"torch"},
    "autograder.inputs": {"torch"},
    "autograder.variations": {"torch"},
    "autograder.slips": {"torch"},
    "autograder.compare": {"torch"},
    "autograder.passages": {"torch"},
    "autograder.diagnose": set(),
    "autograder.judge": {"torch"},
    "autograder.perform": {"torch", "numpy"},
    "autograder.exercises*": {"torch", "numpy"},
    "autograder.progress*": set(),
    "autograder.score": set(),
    "autograder.checking": set(),
}

Edges = set[tuple[str, str]]


def sources() -> dict[str, str]:
    """Give the text of each of our modules by its dotted name."""
    files = [file for package in OURS for file in sorted((ROOT / package).rglob("*.py"))]
    return {dotted(file): file.read_text(encoding="utf-8") for file in files}


def dotted(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, known: set[str]) -> set[str]:
    """List what a source imports, wherever it does so; modules rather than names in them."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            inside = {f"{base}.{alias.name}" for alias in node.names}
            found |= (inside & known) or {base}
    return found


def edges(modules: dict[str, str]) -> Edges:
    """List (module, imported module) for all that is imported."""
    known = set(modules)
    return {(name, other) for name, text in modules.items() for other in imports(text, known)}


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in OURS or name.startswith(".")


def allowed(module: str, other: str) -> bool:
    row = next(row for pattern, row in ALLOWED.items() if fnmatchcase(module, pattern))
    row = [pattern.format(chapter=module.rpartition(".")[0]) for pattern in row]
    refused = any(fnmatchcase(other, pattern[1:]) for pattern in row if pattern[0] == "!")
    return not refused and any(fnmatchcase(other, pattern) for pattern in row)


def forbidden_edges(found: Edges) -> Edges:
    return {(m, o) for m, o in found if is_ours(o) and not allowed(m, o)}


def foreign(found: Edges) -> Edges:
    """List the packages of others that a module has no line for in OTHERS."""
    wrong = set()
    for module, other in found:
        rows = [row for pattern, row in OTHERS.items() if fnmatchcase(module, pattern)]
        top = other.split(".")[0]
        free = is_ours(other) or top in sys.stdlib_module_names
        if rows and not free and top not in rows[0]:
            wrong.add((module, other))
    return wrong


def test_every_import_is_in_the_table():
    assert forbidden_edges(edges(sources())) == set()


def test_the_core_imports_no_package_but_torch_and_numpy():
    assert foreign(edges(sources())) == set()


def test_the_core_starts_no_process_and_opens_no_connection():
    core = {f"autograder.{name}" for name in CORE}
    found = {(m, o) for m, o in edges(sources()) if m in core or "exercises" in m}
    assert found
    assert {(m, o) for m, o in found if o.split(".")[0] in PROCESSES} == set()


def test_nothing_but_the_command_line_imports_command_line_or_plug_ins():
    outer = ("autograder.cli", "autograder.plugins")
    found = {(m, o) for m, o in edges(sources()) if o.startswith(outer)}
    assert {(m, o) for m, o in found if not m.startswith(outer)} == set()


def cycle(found: Edges) -> list[str]:
    """Give the modules of one cycle of imports, or nothing."""
    graph: dict[str, set[str]] = {}
    for module, other in found:
        if is_ours(other):
            graph.setdefault(module, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_cycle():
    assert cycle(edges(sources())) == []


def test_no_module_is_a_drawer_for_everything():
    names = {part for module in sources() for part in module.split(".")}
    assert names & {"utils", "util", "common", "base", "helpers", "misc"} == set()


def test_every_line_of_the_table_is_about_a_module():
    modules = set(sources())
    rows = {p for p in ALLOWED if not any(fnmatchcase(m, p) for m in modules)}
    assert rows == set()
    assert {f"autograder.{name}" for name in CORE} <= modules


# The tests above would fail:


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("solutions.softmax", "from autograder.spec import Exercise"),
        ("solutions.softmax", "def f():\n    import autograder"),
        ("autograder.runner.child", "from autograder.exercises.chapter_02 import softmax"),
        ("autograder.runner.child", "from autograder.judge import judge"),
        ("autograder.runner.child", "import solutions.softmax"),
        ("autograder.perform", "from autograder.spec import Trial"),
        ("autograder.wire", "from autograder.spec import Trial"),
        ("autograder.judge", "import autograder.exercises.chapter_02"),
        ("autograder.judge", "from autograder import catalogue"),
        ("autograder.exercises.chapter_02.softmax", "from autograder.judge import judge"),
        ("autograder.exercises.chapter_02.softmax", "from autograder.exercises import chapter_03"),
        ("autograder.exercises.chapter_02.softmax", "from . import attention_cost"),
        ("autograder.editions.book", "from autograder.judge import judge"),
        ("autograder.grading", "from autograder.plugins.nbgrader import release"),
        ("autograder.report.text", "from autograder.cli import main"),
        ("autograder.plugins.nbgrader", "import autograder.cli"),
    ],
)
def test_a_forbidden_edge_is_found(module, line):
    known = {"autograder.catalogue", "autograder.exercises.chapter_03"}
    found = {(module, other) for other in imports(line, known)}
    assert forbidden_edges(found) == found != set()


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("autograder.exercises.chapter_02.a", "from autograder.exercises.chapter_02 import C"),
        ("autograder.exercises.chapter_02.softmax", "from solutions.softmax import softmax"),
        ("autograder.cli.grade", "from autograder.plugins.nbgrader import release"),
        ("autograder.plugins.nbgrader", "from autograder.checking import SEED_VARIABLE"),
        ("autograder.runner.child", "from autograder.wire import Call"),
    ],
)
def test_an_edge_of_the_table_is_let_through(module, line):
    found = {(module, other) for other in imports(line, set())}
    assert found
    assert forbidden_edges(found) == set()


def test_a_foreign_package_is_found():
    found = {("solutions.softmax", "numpy.linalg"), ("solutions.softmax", "math")}
    assert foreign(found) == {("solutions.softmax", "numpy.linalg")}


def test_a_cycle_is_found():
    assert set(cycle({("solutions.a", "solutions.b"), ("solutions.b", "solutions.a")})) == {
        "solutions.a",
        "solutions.b",
    }
