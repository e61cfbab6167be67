"""Changed answers of chapter 10 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

TRUTH = '"and" and "or" have no order'
SUM = "a sum has no order"
PRODUCT = "a product of numbers has no order"
LEAST = "the smaller of two numbers is that in any order"
REMAINDER = "whether the remainder is 0 does not depend on signs, and it is never below 0"
SIGN = "a sign does not change a shape or device"
SIGNS = "two signs cancel: above and below"
AXIS = "of four axes, the last but one is number 2"
TOKENS = "queries, keys and values are equally many"
BLOCKS = "by then all three are cut into equally many blocks"
PLACE = "all three are on one device"
SPARE = "a whole window more is filled up, and what makes no whole block is left out"
SINGLE = "there is one new token"
CUT = "a slice ends where the slots end"
OUTER = "a column times a row is the table of their products"
LAST = "of two parts, the second is the last"

EQUIVALENT: dict[str, dict[str, str]] = {
    "window_mask": {
        "return (distance < w) & (distance >= 0)": TRUTH,
    },
    "sparse_mask": {
        "seen = (distance % stride == 0) | ((distance < w) | (key < sinks))": TRUTH,
        "seen = (key < sinks) | (distance < w) | (distance % stride == 0)": TRUTH,
        "seen = (distance < w) | (key < sinks) | (distance % stride <= 0)": REMAINDER,
        "seen = (distance < w) | (key < sinks) | (-(distance % stride) == 0)": REMAINDER,
        "seen = (distance < w) | (key < sinks) | (-distance % stride == 0)": REMAINDER,
        "seen = (distance < w) | (key < sinks) | (distance % -stride == 0)": REMAINDER,
        "return (distance >= 0) & seen": TRUTH,
    },
    "layer_windows": {
        ("return [w if -(layer % every) else None for layer in range(1, layers + 1)]"): REMAINDER,
        "return [w if layer % -every else None for layer in range(1, layers + 1)]": REMAINDER,
        "return [w if layer % every else None for layer in range(1, 1 + layers)]": SUM,
    },
    "receptive_field": {
        "for w in windows:\n    reach = n if w is None else min(reach + w - 1, n)": LEAST,
        "for w in windows:\n    reach = n if w is None else min(n, w + reach - 1)": SUM,
    },
    "windowed_attention": {
        "n = k.shape[2]": TOKENS,
        "n = v.shape[2]": TOKENS,
        "n = (-q).shape[2]": SIGN,
        "n = q.shape[-2]": AXIS,
        "w = min(n, w)": LEAST,
        "q, k, v = (pad(x, (0, 0, 0, w)) for x in (q, k, v))": SPARE,
        "q = q.unfold(-2, w, w).mT": AXIS,
        "k, v = (pad(x, (0, 0, w, 0)).unfold(-2, 2 * w, w).mT for x in (k, v))": AXIS,
        "k, v = (pad(x, (0, 0, w, 0)).unfold(2, w * 2, w).mT for x in (k, v))": PRODUCT,
        "seen = window_mask(w, w * 2, w, q.device).repeat(q.shape[2], 1, 1)": PRODUCT,
        "seen = window_mask(w, 2 * w, w, k.device).repeat(q.shape[2], 1, 1)": PLACE,
        "seen = window_mask(w, 2 * w, w, v.device).repeat(q.shape[2], 1, 1)": PLACE,
        "seen = window_mask(w, 2 * w, w, (-q).device).repeat(q.shape[2], 1, 1)": SIGN,
        "seen = window_mask(w, 2 * w, w, q.device).repeat(k.shape[2], 1, 1)": BLOCKS,
        "seen = window_mask(w, 2 * w, w, q.device).repeat(v.shape[2], 1, 1)": BLOCKS,
        "seen = window_mask(w, 2 * w, w, q.device).repeat((-q).shape[2], 1, 1)": SIGN,
    },
    "rolling_cache_step": {
        "w = keys.shape[-2]": AXIS,
        "keys[:, :, position % w] = k[:, :, -1]": SINGLE,
        "values[:, :, position % w] = v[:, :, -1]": SINGLE,
        "held = position + 1": CUT,
        "held = min(w, position + 1)": LEAST,
        "held = min(1 + position, w)": SUM,
    },
    "linear_attention": {
        "q, k = (1 + elu(q), elu(k) + 1)": SUM,
        "q, k = (-(elu(q) + 1), elu(k) + 1)": SIGNS,
        "q, k = (elu(q) + 1, 1 + elu(k))": SUM,
        "table = (k[..., None] @ v[..., None, :]).cumsum(2)": OUTER,
        "table = (v[..., None, :] * k[..., None]).cumsum(2)": PRODUCT,
        "total = k.cumsum(-2)": AXIS,
        (
            "if state is not None:\n    table = state[0][:, :, None] + tab"
            "le\n    total = total + state[1][:, :, None]"
        ): SUM,
        (
            "if state is not None:\n    table = table + state[0][:, :, Non"
            "e]\n    total = state[1][:, :, None] + total"
        ): SUM,
        (
            "if state is not None:\n    table = table + state[0][:, :, Non"
            "e]\n    total = total + state[-1][:, :, None]"
        ): LAST,
        "answers = top / (total * q).sum(-1, keepdim=True)": PRODUCT,
    },
}
