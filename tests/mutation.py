"""Change the reference answers in small ways and see whether the cases notice.

`python tests/mutation.py [NN ...]` prints, for each exercise (of chapter NN), how many changed
answers were made, compute the same function after all, were caught, and were named by the
diagnosis; then the survivors.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import copy
import inspect
import runpy
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from autograder.catalogue import exercises
from autograder.judge import PUBLIC_SEED, judge
from autograder.perform import perform
from autograder.spec import Exercise

SEEDS = (PUBLIC_SEED, "another seed")

OPERATORS: tuple[type[ast.operator], ...] = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult,
)  # fmt: skip
OF_BITS: tuple[type[ast.operator], ...] = (ast.BitAnd, ast.BitOr, ast.BitXor)
COMPARISONS: tuple[type[ast.cmpop], ...] = (
    ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip
IDENTITIES: tuple[type[ast.cmpop], ...] = (ast.Is, ast.IsNot)
NEAR = {  # functions and methods that are easily taken for one another
    "exp": ("exp2", "expm1", "sigmoid", "abs", "square", "relu", "exp_"),
    "sum": ("mean", "prod", "amax", "amin", "std", "norm", "cumsum", "logsumexp"),
    "amax": ("amin", "mean", "sum", "median", "max"),
    "sqrt": ("cbrt", "log", "exp"),
    "transpose": ("movedim", "transpose_", "reshape", "flip"),
    "unsqueeze": ("squeeze", "unsqueeze_"),
    "diag_embed": ("diagonal", "diagflat", "diag", "tril"),
    "tril": ("triu",),
    "triu": ("tril",),
    "any": ("all",),
    "all": ("any",),
    "ones": ("zeros",),
    "zeros": ("ones",),
    "cat": ("stack",),
    "stack": ("cat",),
    "repeat_interleave": ("repeat", "tile"),
    "mean": ("sum", "amax", "median"),
    "argmax": ("argmin",),
    "clone": ("detach",),
    "masked_fill": ("masked_fill_",),
    "tanh": ("sigmoid", "relu", "sin"),
}


def _equivalents() -> dict[str, dict[str, str]]:
    """Read for each exercise: the changed line, as it is printed -> why it computes the same."""
    folder = Path(__file__).parent / "equivalents"
    tables = [runpy.run_path(str(path))["EQUIVALENT"] for path in sorted(folder.glob("*.py"))]
    return {name: reasons for table in tables for name, reasons in table.items()}


EQUIVALENT = _equivalents()


Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Mutant:
    """A changed answer: the line as it was, as it is now (empty where deleted), and the code."""

    line: str
    changed: str
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """The changed line: what the table of equivalents holds."""
        return self.changed or f"(deleted) {self.line}"


@dataclass(frozen=True)
class Outcome:
    """What the judge said of one mutant."""

    mutant: Mutant
    passed: bool
    named: bool
    broken: bool


def mutants(function: Callable[..., Any]) -> list[Mutant]:
    """Make every mutant of a function; two with the same text count once."""
    module = inspect.getmodule(function)
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, Definition)
    found = {}
    for line, changed, new in _definitions(definition):
        with contextlib.suppress(SyntaxError):  # a starred argument, say, that is left alone
            found.setdefault(ast.unparse(new), Mutant(line, changed, compiled(new, vars(module))))
    found.pop(ast.unparse(definition), None)
    return list(found.values())


def _definitions(definition: Definition) -> Iterator[tuple[str, str, Definition]]:
    """Yield (line, changed line, definition) for each change; in a class, of each method."""
    if isinstance(definition, ast.FunctionDef):
        for line, changed, body in _bodies(definition):
            yield line, changed, with_field(definition, "body", body or [ast.Pass()])
        return
    for i, method in enumerate(definition.body):
        if isinstance(method, ast.FunctionDef):
            for line, changed, new in _definitions(method):
                body = [*definition.body[:i], new, *definition.body[i + 1 :]]
                yield line, changed, with_field(definition, "body", body)


def compiled(definition: Definition, names: dict[str, Any]) -> Callable[..., Any]:
    """Make the function that a definition describes, with its module's names at hand."""
    tree = ast.fix_missing_locations(ast.Module([definition], []))
    namespace = dict(names)
    flags = __future__.annotations.compiler_flag
    exec(compile(tree, "<mutant>", "exec", flags=flags), namespace)
    function = namespace[definition.name]
    assert callable(function)
    return function


def _bodies(definition: ast.FunctionDef) -> Iterator[tuple[str, str, list[ast.stmt]]]:
    """Yield (line, changed line, body) for each change of one statement."""
    body = definition.body
    names = [argument.arg for argument in (*definition.args.args, *definition.args.kwonlyargs)]
    for i, statement in enumerate(body):
        if i == 0 and ast.get_docstring(definition):
            continue
        line = ast.unparse(statement)
        yield line, "", [*body[:i], *body[i + 1 :]]
        for new in changes(statement, tuple(names)):
            yield line, ast.unparse(new), [*body[:i], new, *body[i + 1 :]]  # type: ignore[list-item]
        if isinstance(statement, ast.Assign):
            names += [target.id for target in statement.targets if isinstance(target, ast.Name)]


def changes(node: ast.AST, names: tuple[str, ...]) -> Iterator[ast.AST]:
    """Yield the copies of a tree that differ from it in one place."""
    yield from _swaps(node, names)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return  # a signed constant changes as a whole
    for field, value in ast.iter_fields(node):
        if field in ("target", "targets") or isinstance(value, (ast.operator, ast.expr_context)):
            continue
        if field == "func" and isinstance(value, ast.Name):
            continue
        if isinstance(value, ast.AST):
            for new in changes(value, names):
                yield with_field(node, field, new)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, ast.stmt):
                    rest = [*value[:i], *value[i + 1 :]]
                    yield with_field(node, field, rest or [ast.Pass()])
                if isinstance(item, ast.AST):
                    for new in changes(item, names):
                        yield with_field(node, field, [*value[:i], new, *value[i + 1 :]])


def with_field(node: Any, field: str, value: Any) -> Any:
    """Copy a node with one field replaced."""
    new = copy.copy(node)
    setattr(new, field, value)
    return new


def _swaps(node: ast.AST, names: tuple[str, ...]) -> Iterator[ast.AST]:
    """Yield what may stand in the place of one node."""
    kinds: list[tuple[type, Callable[[Any], Iterator[ast.AST]]]] = [
        (ast.BinOp, _of_operation),
        (ast.Compare, _of_comparison),
        (ast.UnaryOp, _of_sign),
        (ast.Constant, _of_constant),
        (ast.Call, _of_call),
        (ast.Tuple, _of_tuple),
        (ast.Subscript, _of_subscript),
        (ast.IfExp, _of_choice),
    ]
    for kind, swaps in kinds:
        if isinstance(node, kind):
            yield from swaps(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        yield from (ast.Name(other, ast.Load()) for other in names if other != node.id)
    if isinstance(node, (ast.BinOp, ast.Call)) or (isinstance(node, ast.Name) and node.id in names):
        yield ast.UnaryOp(ast.USub(), node)


def _of_operation(node: ast.BinOp) -> Iterator[ast.AST]:
    for operator in OF_BITS if isinstance(node.op, OF_BITS) else OPERATORS:
        if not isinstance(node.op, operator):
            yield with_field(node, "op", operator())
    yield node.left
    yield node.right
    yield ast.BinOp(node.right, node.op, node.left)


def _of_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for comparison in IDENTITIES if isinstance(node.ops[0], IDENTITIES) else COMPARISONS:
        if not isinstance(node.ops[0], comparison):
            yield with_field(node, "ops", [comparison()])


def _of_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int):
        yield from (number(-node.operand.value + step) for step in (-1, 1, 2))
    yield node.operand


def _of_constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, (int, float)):
        yield from (number(node.value + step) for step in (-1, 1))
        yield number(-node.value)


def number(value: float) -> ast.expr:
    """Write a number as source does: a sign before a constant."""
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _of_call(node: ast.Call) -> Iterator[ast.AST]:
    """Yield another function, less arguments, arguments exchanged, or no call at all."""
    if isinstance(node.func, ast.Attribute):
        for other in NEAR.get(node.func.attr, ()):
            yield with_field(node, "func", with_field(node.func, "attr", other))
        yield node.func.value
    yield from node.args
    for i in range(len(node.args)):
        yield with_field(node, "args", [*node.args[:i], *node.args[i + 1 :]])
    for i in range(len(node.keywords)):
        yield with_field(node, "keywords", [*node.keywords[:i], *node.keywords[i + 1 :]])
    for i, j in combinations(range(len(node.args)), 2):
        yield with_field(node, "args", exchanged(node.args, i, j))


def _of_tuple(node: ast.Tuple) -> Iterator[ast.AST]:
    for i, j in combinations(range(len(node.elts)), 2):
        yield with_field(node, "elts", exchanged(node.elts, i, j))
    yield from node.elts


def _of_subscript(node: ast.Subscript) -> Iterator[ast.AST]:
    yield node.value


def _of_choice(node: ast.IfExp) -> Iterator[ast.AST]:
    yield node.body
    yield node.orelse
    yield ast.IfExp(node.test, node.orelse, node.body)


def exchanged(items: list[ast.expr], i: int, j: int) -> list[ast.expr]:
    """Copy a list with two entries exchanged."""
    new = list(items)
    new[i], new[j] = new[j], new[i]
    return new


def outcome(exercise: Exercise, mutant: Mutant) -> Outcome:
    """Judge one mutant: it is caught if any seed takes points from it, the first one mostly."""
    ask = partial(perform, mutant.function)
    undiagnosed = replace(exercise, mistakes=())
    reports = [judge(exercise, ask)]
    for seed in SEEDS[1:]:
        if reports[-1].verdict == "pass":
            reports.append(judge(undiagnosed, ask, seed=seed))
    return Outcome(
        mutant,
        passed=all(report.verdict == "pass" for report in reports),
        named=bool(reports[0].diagnosis),
        broken=any(report.verdict == "grader error" for report in reports),
    )


def survivors(exercise: Exercise, outcomes: list[Outcome]) -> list[str]:
    """List the mutants with full marks that are not known to compute the same function."""
    names = [one.mutant.name for one in outcomes if one.passed]
    return [name for name in names if name not in EQUIVALENT.get(exercise.id, {})]


def summary(exercise: Exercise, outcomes: list[Outcome]) -> str:
    """Write one line of the table."""
    caught = [one for one in outcomes if not one.passed]
    named = sum(one.named for one in caught)
    equivalent = len(outcomes) - len(caught) - len(survivors(exercise, outcomes))
    numbers = (len(outcomes), equivalent, len(caught), named)
    return f"{exercise.id:<30}" + "".join(f"{n:>12}" for n in numbers)


def main() -> int:
    """Print the table and the survivors; the exit status says whether there are any."""
    heads = ("made", "equivalent", "caught", "named")
    print(f"{'exercise':<30}" + "".join(f"{head:>12}" for head in heads))
    alive: list[str] = []
    chapters = [argument for argument in sys.argv[1:] if argument.isdigit()]
    for exercise in exercises().values():
        if chapters and exercise.chapter[:2] not in chapters:
            continue
        outcomes = [outcome(exercise, mutant) for mutant in mutants(exercise.solution)]
        print(summary(exercise, outcomes), flush=True)
        alive += [f"{exercise.id}: {name}" for name in survivors(exercise, outcomes)]
        alive += [f"{exercise.id}: grader error: {o.mutant.name}" for o in outcomes if o.broken]
        if "-v" in sys.argv:
            unnamed = [o for o in outcomes if not o.named and not o.passed]
            print(*(f"    unnamed: {o.mutant.name}" for o in unnamed), sep="\n")
    print(*alive, sep="\n")
    return bool(alive)


if __name__ == "__main__":
    sys.exit(main())
