"""Ways to write what the exercise `softmax` forbids, and mentions that are no use of it."""

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"

# Bodies of `def softmax(x, dim=-1)`.
USES = {
    "torch.softmax": "return torch.softmax(x, dim)",
    "alias of the module": "return F.softmax(x, dim)",
    "dotted": "return torch.nn.functional.softmax(x, dim)",
    "through nn": "return nn.functional.softmax(x, dim)",
    "method": "return x.softmax(dim)",
    "method of an expression": "return (x - x.max()).softmax(dim)",
    "method of the class": "return torch.Tensor.softmax(x, dim)",
    "module": "return nn.Softmax(dim)(x)",
    "dotted module": "return torch.nn.Softmax(dim=dim)(x)",
    "logarithm first": "return torch.log_softmax(x, dim).exp()",
    "special": "return torch.special.softmax(x, dim)",
    "aten": "return torch.ops.aten.softmax(x, dim)",
    "import inside": "from torch.nn.functional import softmax as sm; return sm(x, dim)",
    "import of the module inside": "import torch.nn.functional as G; return G.softmax(x, dim)",
    "import of torch inside": "import torch as t; return t.softmax(x, dim)",
    "local alias": "f = torch.nn.functional; return f.softmax(x, dim)",
    "local alias of the function": "f = F.softmax; return f(x, dim)",
    "getattr": "return getattr(F, 'softmax')(x, dim)",
    "getattr of the tensor": "return getattr(x, 'softmax')(dim)",
    "lambda": "return (lambda y: y.softmax(dim))(x)",
    "partial": "import functools; return functools.partial(F.softmax, dim=dim)(x)",
    "map": "return torch.stack([*map(lambda r: torch.softmax(r, -1), x)])",
    "function inside": "def f(y):\n        return F.softmax(y, dim)\n    return f(x)",
    "the course's answer": "from solutions.softmax import softmax as s; return s(x, dim)",
    "the course's module": "import solutions.softmax as s; return s.softmax(x, dim)",
}

# Whole cells.
ELSEWHERE = {
    "name imported at the top": """
        from torch.nn.functional import softmax as sm
        def softmax(x, dim=-1):
            return sm(x, dim)""",
    "builtin imported at the top": """
        from torch import softmax as sm
        def softmax(x, dim=-1):
            return sm(x, dim)""",
    "special imported at the top": """
        from torch.special import softmax as sm
        def softmax(x, dim=-1):
            return sm(x, dim)""",
    "module made at the top": """
        layer = nn.Softmax(-1)
        def softmax(x, dim=-1):
            return layer(x)""",
    "helper function": """
        def helper(x, dim):
            return F.softmax(x, dim)
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "helper of a helper": """
        def inner(x, dim):
            return x.softmax(dim)
        def helper(x, dim):
            return inner(x, dim)
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "helper named in a lambda": """
        def helper(x, dim):
            return F.softmax(x, dim)
        def softmax(x, dim=-1):
            return (lambda y: helper(y, dim))(x)""",
    "lambda at the top": """
        helper = lambda x, dim: F.softmax(x, dim)
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "partial at the top": """
        import functools
        helper = functools.partial(F.softmax, dim=-1)
        def softmax(x, dim=-1):
            return helper(x)""",
    "default argument": """
        def softmax(x, dim=-1, f=F.softmax):
            return f(x, dim)""",
    "method of a class": """
        class Helper:
            @staticmethod
            def use(x, dim):
                return F.softmax(x, dim)
        def softmax(x, dim=-1):
            return Helper.use(x, dim)""",
    "helper of a class": """
        def helper(x, dim):
            return F.softmax(x, dim)
        class Helper:
            @staticmethod
            def use(x, dim):
                return helper(x, dim)
        def softmax(x, dim=-1):
            return Helper.use(x, dim)""",
    "closure": """
        def make():
            f = F.softmax
            def softmax(x, dim=-1):
                return f(x, dim)
            return softmax
        softmax = make()""",
    "decorator": """
        import functools
        def same(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
        @same
        def softmax(x, dim=-1):
            return F.softmax(x, dim)""",
    "helper behind a decorator": """
        import functools
        def same(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
        def helper(x, dim):
            return F.softmax(x, dim)
        @same
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "the course's answer at the top": """
        from solutions.softmax import softmax as reference
        def softmax(x, dim=-1):
            return reference(x, dim)""",
}

# Bodies, before `return e / e.sum(dim, keepdim=True)`.
ALLOWED = {
    "comment": "# F.softmax(x, dim) would do\n    e = (x - x.amax(dim, True)).exp()",
    "string": "'F.softmax(x, dim)'\n    e = (x - x.amax(dim, True)).exp()",
    "local name": "softmax = x.amax(dim, True)\n    e = (x - softmax).exp()",
    "inner function": "def softmax(y):\n        return y.exp()\n    e = softmax(x - x.max())",
    "own attribute": "e = (x - x.amax(dim, True)).exp()\n    e.log_softmaxed = 1",
}
