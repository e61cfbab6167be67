"""Change the reference answers in small ways and see whether the cases notice.

`python tests/mutation.py` prints, for each exercise, how many changed answers were made, compute
the same function after all, were caught, and were named by the diagnosis; then the survivors.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

from autograder.catalogue import exercises
from autograder.judge import PUBLIC_SEED, judge
from autograder.perform import perform
from autograder.spec import Exercise

SEEDS = (PUBLIC_SEED, "another seed")

OPERATORS: tuple[type[ast.operator], ...] = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult,
)  # fmt: skip
COMPARISONS: tuple[type[ast.cmpop], ...] = (
    ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip
NEAR = {  # functions and methods that are easily taken for one another
    "exp": ("exp2", "expm1", "sigmoid", "abs", "square", "relu", "exp_"),
    "sum": ("mean", "prod", "amax", "amin", "std", "norm", "cumsum", "logsumexp"),
    "amax": ("amin", "mean", "sum", "median", "max"),
    "sqrt": ("cbrt", "log", "exp"),
    "transpose": ("movedim", "transpose_", "reshape", "flip"),
    "unsqueeze": ("squeeze", "unsqueeze_"),
    "diag_embed": ("diagonal", "diagflat", "diag", "tril"),
}
# The changed line, exactly as it is printed -> why it computes the same function.
PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
SQUARE = "a square has no sign"
EQUIVALENT: dict[str, dict[str, str]] = {
    "product_moments": {
        "mean = mean_k * mean_q": PRODUCT,
        "variance = mean_q ** 2 * var_k + (var_q * var_k + var_q * mean_k ** 2)": SUM,
        "variance = var_q * mean_k ** 2 + var_q * var_k + mean_q ** 2 * var_k": SUM,
        "variance = var_k * var_q + var_q * mean_k ** 2 + mean_q ** 2 * var_k": PRODUCT,
        "variance = var_q * var_k + mean_k ** 2 * var_q + mean_q ** 2 * var_k": PRODUCT,
        "variance = var_q * var_k + var_q * (-mean_k) ** 2 + mean_q ** 2 * var_k": SQUARE,
        "variance = var_q * var_k + var_q * mean_k ** 2 + var_k * mean_q ** 2": PRODUCT,
        "variance = var_q * var_k + var_q * mean_k ** 2 + (-mean_q) ** 2 * var_k": SQUARE,
        "return (mean * d_k, d_k * variance)": PRODUCT,
        "return (d_k * mean, variance * d_k)": PRODUCT,
    },
    "softmax": {
        "weights = shifted.exp_()": "writes into a tensor of its own, not the caller's",
        "weights = -shifted.exp()": "the sign is in numerator and denominator",
    },
    "attention_weights": {
        "scores = q @ k.movedim(-2, -1) / math.sqrt(q.shape[-1])": (
            "next to each other, moving an axis is exchanging it"
        ),
        "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": "an exchange has no order",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])": "q and k are equally wide",
        "scores = q @ k.transpose(-2, -1) / math.sqrt((-q).shape[-1])": (
            "a sign does not change a shape"
        ),
        "return softmax(scores)": "-1 is softmax's own default",
    },
    "softmax_jacobian": {
        "outer = p.unsqueeze(-1) @ p.unsqueeze(-2)": "column times row, by a product of matrices",
        "outer = p.unsqueeze(-2) * p.unsqueeze(-1)": PRODUCT,
    },
    "attention_cost": {
        "score_flops = d_k * (2 * n_q * n_k)": PRODUCT,
        "score_flops = n_k * (2 * n_q) * d_k": PRODUCT,
        "score_flops = n_q * 2 * n_k * d_k": PRODUCT,
        "mix_flops = d_v * (2 * n_q * n_k)": PRODUCT,
        "mix_flops = n_k * (2 * n_q) * d_v": PRODUCT,
        "mix_flops = n_q * 2 * n_k * d_v": PRODUCT,
        "return (mix_flops + score_flops, n_q * n_k * bytes_per_number)": SUM,
        "return (score_flops + mix_flops, bytes_per_number * (n_q * n_k))": PRODUCT,
        "return (score_flops + mix_flops, n_k * n_q * bytes_per_number)": PRODUCT,
    },
}


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
    assert isinstance(definition, ast.FunctionDef)
    found = {}
    for line, changed, body in _bodies(definition):
        new = replace_body(definition, body)
        found.setdefault(ast.unparse(new), Mutant(line, changed, compiled(new, vars(module))))
    found.pop(ast.unparse(definition), None)
    return list(found.values())


def replace_body(definition: ast.FunctionDef, body: list[ast.stmt]) -> ast.FunctionDef:
    """Give a copy of the definition another body."""
    new = copy.copy(definition)
    new.body = body or [ast.Pass()]
    return new


def compiled(definition: ast.FunctionDef, names: dict[str, Any]) -> Callable[..., Any]:
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
                if isinstance(item, ast.AST):
                    for new in changes(item, names):
                        yield with_field(node, field, [*value[:i], new, *value[i + 1 :]])


def with_field(node: ast.AST, field: str, value: Any) -> ast.AST:
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
    ]
    for kind, swaps in kinds:
        if isinstance(node, kind):
            yield from swaps(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        yield from (ast.Name(other, ast.Load()) for other in names if other != node.id)
    if isinstance(node, (ast.BinOp, ast.Call)) or (isinstance(node, ast.Name) and node.id in names):
        yield ast.UnaryOp(ast.USub(), node)


def _of_operation(node: ast.BinOp) -> Iterator[ast.AST]:
    for operator in OPERATORS:
        if not isinstance(node.op, operator):
            yield with_field(node, "op", operator())
    yield node.left
    yield node.right
    yield ast.BinOp(node.right, node.op, node.left)


def _of_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for comparison in COMPARISONS:
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


def exchanged(items: list[ast.expr], i: int, j: int) -> list[ast.expr]:
    """Copy a list with two entries exchanged."""
    new = list(items)
    new[i], new[j] = new[j], new[i]
    return new


def outcome(exercise: Exercise, mutant: Mutant) -> Outcome:
    """Judge one mutant: it is caught if any seed takes points from it."""
    ask = partial(perform, mutant.function)
    undiagnosed = replace(exercise, mistakes=())
    reports = [judge(exercise, ask), *(judge(undiagnosed, ask, seed=seed) for seed in SEEDS[1:])]
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
    for exercise in exercises().values():
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
