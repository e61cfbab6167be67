"""Changed answers of chapter 08 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
UNITS = "there is one row of w_in for each bias"
EQUIVALENT: dict[str, dict[str, str]] = {
    "gelu": {
        "return (1 + torch.erf(x / math.sqrt(2))) * x / 2": PRODUCT,
        "return x * (torch.erf(x / math.sqrt(2)) + 1) / 2": SUM,
    },
    "swish": {
        "return torch.sigmoid(beta * x) * x": PRODUCT,
        "return x * torch.sigmoid(x * beta)": PRODUCT,
    },
    "dead_units": {
        "inputs = b_in + x @ w_in.T": SUM,
        "tokens = inputs.reshape(-1, len(w_in))": UNITS,
        "tokens = inputs.reshape(-1, len(-b_in))": "a sign does not change a length",
    },
    "feed_forward": {
        "hidden = activation(b_in + x @ w_in.T)": SUM,
        "return b_out + hidden @ w_out.T": SUM,
    },
    "glu": {
        "return value * activation(gate)": PRODUCT,
    },
    "matched_hidden_width": {
        "blocks = -(d_ff * -2 // (3 * multiple))": PRODUCT,
        "blocks = -(-2 * d_ff // (multiple * 3))": PRODUCT,
        "return blocks * multiple": PRODUCT,
    },
    "SwiGLU": {
        "hidden = self.w_up(x) * swish(self.w_gate(x))": PRODUCT,
    },
}
