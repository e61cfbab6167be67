"""Changed answers of chapter 11 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of whole numbers has no order"
SUM = "a sum has no order"
FOUR = "2 + 2, 2 * 2 and 2 ** 2 are 4"
SAME = "attention and the layer that expands have equally many: 4 d^2 + 4 d"
TRUTH = "minus False is 0, and minus True is not"
EITHER = "either end will do, in any order"
UNUSED = "what the initialiser returns is not used"
SHAPE = "minus x has the shape and the device of x"
LAST = "sources have two axes: the second is the last"

EQUIVALENT: dict[str, dict[str, str]] = {
    "count_parameters": {
        "shared = d_model // heads * (kv_heads or heads)": PRODUCT,
        "attend = 2 * d_model * shared + 2 * d_model * d_model": SUM,
        "attend = d_model * (2 * d_model) + 2 * d_model * shared": PRODUCT,
        "attend = d_model * 2 * d_model + 2 * d_model * shared": PRODUCT,
        "attend = 2 * d_model * d_model + shared * (2 * d_model)": PRODUCT,
        "attend = 2 * d_model * d_model + d_model * 2 * shared": PRODUCT,
        "block = 2 * d_model + (attend + 3 * d_model * d_ff)": SUM,
        "block = 3 * d_model * d_ff + attend + 2 * d_model": SUM,
        "block = attend + d_ff * (3 * d_model) + 2 * d_model": PRODUCT,
        "block = attend + d_model * 3 * d_ff + 2 * d_model": PRODUCT,
        "block = attend + 3 * d_model * d_ff + d_model * 2": PRODUCT,
        "tables = (1 if tied else 2) * (vocabulary * d_model)": PRODUCT,
        "tables = d_model * vocabulary * (1 if tied else 2)": PRODUCT,
        "tables = vocabulary * d_model * (1 if -tied else 2)": TRUTH,
        "return d_model + (tables + layers * block)": SUM,
        "return layers * block + tables + d_model": SUM,
        "return tables + block * layers + d_model": PRODUCT,
    },
    "gpt2_parameters": {
        "attend = (d_model * d_model + d_model) * 4": PRODUCT,
        "attend = 4 * (d_model + d_model * d_model)": SUM,
        "expand = 4 * d_model + d_model * 4 * d_model": SUM,
        "expand = d_model * (d_model * 4) + 4 * d_model": PRODUCT,
        "expand = 4 * d_model * d_model + 4 * d_model": PRODUCT,
        "expand = d_model * 4 * d_model + d_model * 4": PRODUCT,
        "contract = d_model + 4 * d_model * d_model": SUM,
        "contract = d_model * (4 * d_model) + d_model": PRODUCT,
        "contract = d_model * 4 * d_model + d_model": PRODUCT,
        "block = 2 * 2 * d_model + (attend + expand + contract)": SUM,
        "block = contract + (attend + expand) + 2 * 2 * d_model": SUM,
        "block = expand + attend + contract + 2 * 2 * d_model": SUM,
        "block = expand + expand + contract + 2 * 2 * d_model": SAME,
        "block = attend + attend + contract + 2 * 2 * d_model": SAME,
        "block = attend + expand + contract + d_model * (2 * 2)": PRODUCT,
        "block = attend + expand + contract + (2 + 2) * d_model": FOUR,
        "block = attend + expand + contract + 2 ** 2 * d_model": FOUR,
        "return layers * block + (vocabulary + positions + 2) * d_model": SUM,
        "return d_model * (vocabulary + positions + 2) + layers * block": PRODUCT,
        "return (2 + (vocabulary + positions)) * d_model + layers * block": SUM,
        "return (positions + vocabulary + 2) * d_model + layers * block": SUM,
        "return (vocabulary + positions + 2) * d_model + block * layers": PRODUCT,
    },
    "init_residual_scale": {
        "writes = std / math.sqrt(len(model.blocks) * 2)": PRODUCT,
        (
            "for name, module in model.named_modules():\n"
            "    if -isinstance(module, nn.Linear | nn.Embedding):\n"
            "        last = name.endswith(('w_o', 'w_down'))\n"
            "        nn.init.normal_(module.weight, std=writes if last else std)"
        ): TRUTH,
        (
            "for name, module in model.named_modules():\n"
            "    if isinstance(module, nn.Linear | nn.Embedding):\n"
            "        last = name.endswith(('w_down', 'w_o'))\n"
            "        nn.init.normal_(module.weight, std=writes if last else std)"
        ): EITHER,
        (
            "for name, module in model.named_modules():\n"
            "    if isinstance(module, nn.Linear | nn.Embedding):\n"
            "        last = name.endswith(('w_o', 'w_down'))\n"
            "        -nn.init.normal_(module.weight, std=writes if last else std)"
        ): UNUSED,
    },
    "EncoderBlock": {
        "x = self.attend(self.norm_1(x), mask=mask) + x": SUM,
        "mixed: Tensor = self.feed_forward(self.norm_2(x)) + x": SUM,
    },
    "DecoderBlock": {
        "x = answers + x": SUM,
    },
    "CrossBlock": {
        "past = causal_mask((-x).shape[1], x.shape[1], x.device)": SHAPE,
        "past = causal_mask(x.shape[1], x.shape[1], (-x).device)": SHAPE,
    },
    "EncoderDecoder": {
        "code = sinusoidal_encoding(position_angles(places, (-x).shape[-1]))": SHAPE,
        ("if lengths is not None:\n    mask = padding_mask(lengths, source.shape[-1])"): LAST,
    },
}
