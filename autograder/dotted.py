"""Which dotted name does an expression stand for? F.softmax is torch.nn.functional.softmax.

Everything here works on text that nobody has run, and takes a time that grows with its length.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

DEEPEST = 20  # steps from a module to a function, as in torch.nn.functional.softmax: more is none
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ROUNDS = 4  # f = torch; g = f.nn; h = g.functional: aliases of aliases

# Where torch keeps a function, and the name under which people know it.
PUBLIC = {
    "torch.nn.modules.activation.": "torch.nn.",
    "torch._C._nn.": "torch.nn.functional.",
    "torch._C._VariableFunctions.": "torch.",
    "torch._C._special.special_": "torch.special.",
    "torch._C.TensorBase.": "Tensor.",
    "torch._refs.": "torch.",
    "torch.masked.": "torch.",
    "torch.sparse.": "torch.",
    "torch.ops.aten.": "torch.",
    "torch.Tensor.": "Tensor.",
}
CODE_TAKERS = ("eval", "exec", "compile")
GETTERS = ("operator.attrgetter", "operator.methodcaller")
LOOKUPS = ("get", "pop", "__getitem__")
ATTRIBUTE_LOOKUPS = ("__getattribute__", "__getattr__")
NOTHING = ast.Constant(None)


def public(path: str) -> str:
    """Return the name under which people know what torch keeps at `path`."""
    if ".torch." in path:  # a module of torch that imports torch
        path = "torch." + path.rpartition(".torch.")[2]
    for inside, outside in PUBLIC.items():
        if path.startswith(inside):
            return outside + path.removeprefix(inside)
    return path


def first_use(
    tree: ast.AST, names: Mapping[str, str], forbidden: Sequence[str], own: Collection[str]
) -> tuple[str, int] | None:
    """Return (dotted name, line) of the first use of a forbidden name in a tree, or None.

    names  what a name at hand stands for: {"F": "torch.nn.functional"}
    own    methods that the code around defines itself: not a tensor's, though so called
    """
    known = {**names, **imports(tree)}
    known |= aliases(tree, known)
    mine = {f"Tensor.{name}" for name in own}
    for node, line in _nodes(tree):
        for path in paths(node, known):
            if path in forbidden and path not in mine:
                return path, line
    for code, line in _texts(tree):
        taken = [path for path in imports(code).values() if path in forbidden]
        if taken:
            return taken[0], line
    return None


def dotted(node: ast.AST, known: Mapping[str, str], steps: int = DEEPEST) -> str | None:
    """Return "torch.nn.functional" for F or nn.functional; None for anything not a module's.

    known  what a name at hand stands for: {"F": "torch.nn.functional"}
    steps  how many names may follow one another
    """
    if isinstance(node, ast.Name):
        return known.get(node.id)
    module = _imported_by_call(node, known)
    if module or not steps:
        return module
    step = looked_up(node, known)
    if not step:
        return None
    base = dotted(step[0], known, steps - 1)
    return base and public(f"{base}.{step[1]}")


def looked_up(node: ast.AST, known: Mapping[str, str]) -> tuple[ast.AST, str] | None:
    """Read x.name, getattr(x, "name"), vars(x)["name"], attrgetter("name")(x) and the like."""
    if isinstance(node, ast.Attribute):
        return (node.value, node.attr) if isinstance(node.ctx, ast.Load) else None
    if isinstance(node, ast.Subscript):
        return _entry(node.value, text_of(node.slice))
    if isinstance(node, ast.Call):
        return _asked_for(node, known)
    return None


def paths(node: ast.AST, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the dotted names that an expression may stand for.

    An attribute of something that is not known is a tensor's: "Tensor.softmax".
    """
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id in known:
            yield known[node.id]
    elif step := looked_up(node, known):
        base = dotted(step[0], known)
        yield public(f"{base}.{step[1]}") if base else f"Tensor.{step[1].rpartition('.')[2]}"


def members(trees: Iterable[ast.AST]) -> set[str]:
    """Name the methods and attributes that code defines itself: `softmax` of `self.softmax`."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    written = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    inside = [one for node in nodes if isinstance(node, ast.ClassDef) for one in node.body]
    methods = {one.name for one in inside if isinstance(one, DEFINITIONS)}
    return written | methods | {name for one in inside for name, _ in bound(one)}


def imports(tree: ast.AST) -> dict[str, str]:
    """List what the names stand for that a tree imports, wherever it does so."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        found |= imported(node)
    return found


def imported(node: ast.AST) -> dict[str, str]:
    """List what one import statement binds: {"F": "torch.nn.functional"}."""
    if isinstance(node, ast.Import):
        tops = {alias.name.split(".")[0]: alias for alias in node.names if not alias.asname}
        renamed = {alias.asname: alias.name for alias in node.names if alias.asname}
        return {**{top: top for top in tops}, **renamed}
    if isinstance(node, ast.ImportFrom):
        named = (alias for alias in node.names if alias.name != "*")
        return {a.asname or a.name: public(f"{node.module}.{a.name}") for a in named}
    return {}


def aliases(tree: ast.AST, known: Mapping[str, str]) -> dict[str, str]:
    """Find `f = torch.nn.functional` and the like, wherever in a tree."""
    given = [pair for node in ast.walk(tree) for pair in bound(node)]
    found: dict[str, str] = {}
    for _ in range(ROUNDS):
        at_hand = {**known, **found}
        more = {name: path for name, value in given if (path := dotted(value, at_hand))}
        if more.items() <= found.items():
            break
        found |= more
    return found


def bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that one assignment binds, each with the expression of its value.

    Of `a, b = x, y` each gets its own; of `a, b = pair`, both get the pair.
    """
    if isinstance(node, ast.Assign):
        waiting: list[tuple[ast.expr, ast.expr]] = [(to, node.value) for to in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value:
        waiting = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        waiting = [(node.target, node.iter)]
    elif isinstance(node, ast.withitem) and node.optional_vars:
        waiting = [(node.optional_vars, node.context_expr)]
    else:
        return
    while waiting:
        target, value = waiting.pop()
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Starred):
            waiting.append((target.value, value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            waiting += zip(target.elts, _parts(value, target.elts), strict=True)


def code_in_text(node: ast.AST) -> ast.AST | None:
    """Parse the text in eval("torch.softmax(x, -1)"); None for anything else."""
    if not (isinstance(node, ast.Call) and node.args):
        return None
    taker = getattr(node.func, "id", getattr(node.func, "attr", ""))
    text = text_of(node.args[0]) if taker in CODE_TAKERS else None
    try:
        return ast.parse(text.strip()) if text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def text_of(node: ast.AST) -> str | None:
    """Return the text that a literal holds, None for what is no literal text."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """Walk a tree, and the code in texts that it runs; each with the line in the tree."""
    for node in ast.walk(tree):
        yield node, getattr(node, "lineno", 1)
    for code, line in _texts(tree):
        for node in ast.walk(code):
            yield node, line


def _texts(tree: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    for node in ast.walk(tree):
        if code := code_in_text(node):
            yield code, getattr(node, "lineno", 1)


def _parts(value: ast.expr, targets: list[ast.expr]) -> list[ast.expr]:
    starred = any(isinstance(target, ast.Starred) for target in targets)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(targets) and not starred:
        return value.elts
    return [value] * len(targets)


def _asked_for(node: ast.Call, known: Mapping[str, str]) -> tuple[ast.AST, str] | None:
    """Read the calls that look a name up."""
    function, asked = node.func, _called(node.func, known)
    first, second = (*node.args, NOTHING, NOTHING)[:2]
    name = text_of(second if asked == "getattr" else first)
    if asked == "getattr":
        return (first, name) if name else None
    if isinstance(function, ast.Call) and _called(function.func, known) in GETTERS:
        getter = text_of((*function.args, NOTHING)[0])
        return (first, getter) if getter else None
    if name and asked in GETTERS:
        return NOTHING, name  # of what, is not said here
    if name and isinstance(function, ast.Attribute):
        if function.attr in ATTRIBUTE_LOOKUPS:
            return function.value, name
        return _entry(function.value, name) if function.attr in LOOKUPS else None
    return None


def _called(function: ast.AST, known: Mapping[str, str]) -> str:
    """Name the function that is called: a module's by its path, others as they are written."""
    if isinstance(function, ast.Name):
        return known.get(function.id, function.id).removeprefix("builtins.")
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        module = known.get(function.value.id, "")
        return f"{module}.{function.attr}".removeprefix("builtins.")
    return ""


def _entry(namespace: ast.AST, name: str | None) -> tuple[ast.AST, str] | None:
    """Read x.__dict__["name"] and vars(x)["name"]."""
    if not name:
        return None
    if isinstance(namespace, ast.Attribute) and namespace.attr == "__dict__":
        return namespace.value, name
    if isinstance(namespace, ast.Call) and namespace.args and _called(namespace.func, {}) == "vars":
        return namespace.args[0], name
    return None


def _imported_by_call(node: ast.AST, known: Mapping[str, str]) -> str | None:
    """Read import_module("torch.nn"), __import__("torch") and sys.modules["torch"]."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        is_table = _called(node.value, known) == "sys.modules"
        return text_of(node.slice) if is_table else None
    if not (isinstance(node, ast.Call) and node.args):
        return None
    asked, name = _called(node.func, known), text_of(node.args[0])
    if asked == "importlib.import_module":
        return name
    if asked == "__import__" and name:
        whole = len(node.args) > 3 or any(keyword.arg == "fromlist" for keyword in node.keywords)
        return name if whole else name.split(".")[0]
    return None
