"""Changed answers of chapter 07 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
SQUARE = "a square has no sign"
SIGN = "a sign changes neither dtype nor shape"
ZERO = "there is no second zero: -0 is 0"
WIDER = "the wider of two dtypes has no order"
SAME_DTYPE = "weight and bias have the dtype of x, or float32 beside half precision"
PROMOTED = "the other factor is float32 already"
LAST = "the last of two"

EQUIVALENT: dict[str, dict[str, str]] = {
    "standardise": {
        "variance = (-centred).square().mean(dims, keepdim=True)": SQUARE,
        "return centred / (eps + variance).sqrt()": SUM,
    },
    "layer_norm": {
        "wide = x.to(torch.promote_types(torch.float32, x.dtype))": WIDER,
        "wide = x.to(torch.promote_types(weight.dtype, torch.float32))": SAME_DTYPE,
        "wide = x.to(torch.promote_types(bias.dtype, torch.float32))": SAME_DTYPE,
        "wide = x.to(torch.promote_types((-x).dtype, torch.float32))": SIGN,
        "return (bias + standardise(wide, -1, eps) * weight).to(x.dtype)": SUM,
        "return (weight * standardise(wide, -1, eps) + bias).to(x.dtype)": PRODUCT,
        "return (standardise(wide, -1, eps) * weight + bias).to((-x).dtype)": SIGN,
    },
    "rms_norm": {
        "wide = x.to(torch.promote_types(torch.float32, x.dtype))": WIDER,
        "wide = x.to(torch.promote_types(weight.dtype, torch.float32))": SAME_DTYPE,
        "wide = x.to(torch.promote_types((-x).dtype, torch.float32))": SIGN,
        "mean_square = (-wide).square().mean(-1, keepdim=True)": SQUARE,
        "return (weight * (wide * torch.rsqrt(mean_square + eps))).to(x.dtype)": PRODUCT,
        "return (torch.rsqrt(mean_square + eps) * wide * weight).to(x.dtype)": PRODUCT,
        "return (x * torch.rsqrt(mean_square + eps) * weight).to(x.dtype)": PROMOTED,
        "return (wide * torch.rsqrt(eps + mean_square) * weight).to(x.dtype)": SUM,
        "return (wide * torch.rsqrt(mean_square + eps) * weight).to((-x).dtype)": SIGN,
    },
    "LayerNorm": {
        "self.bias = nn.Parameter(-torch.zeros(d_model))": ZERO,
    },
    "layer_norm_backward": {
        "deviation = (eps + centred.square().mean(-1, keepdim=True)).sqrt()": SUM,
        "deviation = ((-centred).square().mean(-1, keepdim=True) + eps).sqrt()": SQUARE,
        "g = weight * grad": PRODUCT,
        "along_y = (g * y).mean(-1, keepdim=True) * y": PRODUCT,
        "along_y = y * (y * g).mean(-1, keepdim=True)": PRODUCT,
        "in_weight = (y * grad).sum_to_size(weight.shape)": PRODUCT,
        "in_weight = (grad * y).sum_to_size((-weight).shape)": SIGN,
        "in_bias = grad.sum_to_size(in_weight.shape)": "in_weight has the shape of the weight",
        "in_bias = grad.sum_to_size((-weight).shape)": SIGN,
    },
    "post_norm_block": {
        "x = rms_norm(attend(x) + x, gains[0])": SUM,
        "return rms_norm(feed_forward(x) + x, gains[1])": SUM,
        "return rms_norm(x + feed_forward(x), gains[-1])": LAST,
    },
    "pre_norm_block": {
        "x = attend(rms_norm(x, gains[0])) + x": SUM,
        "return feed_forward(rms_norm(x, gains[1])) + x": SUM,
        "return x + feed_forward(rms_norm(x, gains[-1]))": LAST,
    },
}
