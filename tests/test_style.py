"""Bars that a script can measure: sizes, types, docstrings, linters, and what tests must hold."""

import ast
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
Function = ast.FunctionDef | ast.AsyncFunctionDef

SOLUTIONS = sorted((ROOT / "solutions").glob("*.py"))
AUTOGRADER = sorted((ROOT / "autograder").rglob("*.py"))
CODE = [file for file in AUTOGRADER if "exercises" not in file.parts]
TESTS = sorted(file for file in (ROOT / "tests").rglob("*.py") if "submissions" not in file.parts)


def functions(source: str) -> list[Function]:
    """List all functions of a source, methods and inner ones too."""
    return [n for n in ast.walk(ast.parse(source)) if isinstance(n, Function)]


def lines(function: Function) -> int:
    """Count the lines of a function without its docstring."""
    total = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is None:
        return total
    return total - ((first.end_lineno or first.lineno) - first.lineno + 1)


def of(files: list[Path]) -> list[Function]:
    return [f for file in files for f in functions(file.read_text(encoding="utf-8"))]


def public(file: Path) -> list[Function]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [n for n in tree.body if isinstance(n, Function) and not n.name.startswith("_")]


def arguments(function: Function) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


# Sizes


def test_functions_of_the_reference_library_are_short():
    sizes = [lines(function) for function in of(SOLUTIONS)]
    assert statistics.median(sizes) <= 10
    assert max(sizes) <= 40
    # AdamW's formula has nine symbols
    assert max(len(arguments(function)) for function in of(SOLUTIONS)) <= 9


def test_files_of_the_reference_library_are_short():
    assert {relative(f) for f in SOLUTIONS if len(f.read_text().splitlines()) > 250} == set()


def test_functions_of_the_autograder_are_short():
    sizes = [lines(function) for function in of(AUTOGRADER)]
    assert statistics.median(sizes) <= 10
    assert sum(size > 60 for size in sizes) < 0.03 * len(sizes)


def test_files_of_the_autograder_are_short():
    assert {relative(f) for f in CODE if len(f.read_text().splitlines()) > 400} == set()


# Contracts


def lacking(file: Path) -> set[str]:
    """Name the public functions without types, docstring or source."""
    found = set()
    for function in public(file):
        doc = ast.get_docstring(function) or ""
        graded = "### BEGIN SOLUTION" in (ast.get_source_segment(file.read_text(), function) or "")
        typed = all(a.annotation for a in arguments(function)) and function.returns
        if not typed or not doc or (graded and "Source: " not in doc):
            found.add(f"{relative(file)}: {function.name}")
    return found


@pytest.mark.parametrize("file", SOLUTIONS, ids=relative)
def test_public_functions_are_typed_and_documented_with_their_source(file):
    assert lacking(file) == set()


def test_a_function_without_contract_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    file = tmp_path / "a.py"
    solution = '    """{}"""\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n'
    file.write_text(f"def f(x: int) -> int:\n{solution.format('Short.')}")
    assert lacking(file) == {"a.py: f"}
    file.write_text("def f(x):\n    '''Short.'''\n    return x\n")
    assert lacking(file) == {"a.py: f"}
    file.write_text(f"def f(x: int) -> int:\n{solution.format('Short. Source: me.')}")
    assert lacking(file) == set()


def test_the_length_of_a_function_leaves_the_docstring_out():
    (function,) = functions('def f():\n    """One.\n\n    Two.\n    """\n    x = 1\n    return x\n')
    assert lines(function) == 3


# Linters


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def tool(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    assert found, f"{name} is missing: it is part of the extra 'dev'"
    return found


def test_ruff_is_content():
    assert run(tool("ruff"), "check", "--quiet", "--output-format=concise", ".") == ""


def test_mypy_is_content():
    assert run(tool("mypy"), "--strict") == ""


# Tests

CHECKS = {"raises", "fail", "assert_close", "expect", "warns", "validate", "wait_for_selector"}


def asserts(function: ast.AST) -> bool:
    """Whether a test can fail by itself: an assert, `pytest.raises`, or a helper that checks."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in CHECKS or name.startswith(("assert", "_assert")):
                return True
    return False


def without_assertion(source: str) -> set[str]:
    return {f.name for f in functions(source) if f.name.startswith("test") and not asserts(f)}


def raises_without_match(source: str) -> list[int]:
    found = []
    for node in ast.walk(ast.parse(source)):
        is_raises = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "raises"
        if is_raises and "match" not in [keyword.arg for keyword in node.keywords]:
            found.append(node.lineno)
    return found


@pytest.mark.parametrize("file", TESTS, ids=relative)
def test_every_test_asserts_and_every_raises_has_a_match(file):
    source = file.read_text(encoding="utf-8")
    assert without_assertion(source) == set()
    assert raises_without_match(source) == []


def test_an_empty_test_is_found():
    source = "def test_a():\n    f()\ndef test_b():\n    assert f()\n"
    assert without_assertion(source) == {"test_a"}
    assert raises_without_match("with pytest.raises(E):\n    f()\n") == [1]
    assert raises_without_match("with pytest.raises(E, match='e'):\n    f()\n") == []


# Places

# Written in pieces, so that this file does not hold them.
PLACES = re.compile("|".join(["/" + "root/", "/" + "work/", "pypi" + r"\.org", "npm" + "js"]))


def tracked() -> list[Path]:
    done = subprocess.run(
        [tool("git"), "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("no git here: the files that are tracked are not known")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_place_on_one_machine_or_a_registry():
    found = {relative(f) for f in tracked() if PLACES.search(f.read_text(errors="replace"))}
    assert found == set()


def test_such_a_place_is_found():
    assert PLACES.search("see /" + "root/.cache")
    assert PLACES.search("https://" + "pypi" + ".org/simple")
    assert not PLACES.search("homework/02/root")
