# Lets the runner send frames of every malformed kind in the place of its answers.
# attacks: product_moments
# verdicts: wrong, exception, output, time, exited

# %%
from autograder import check


def framed(text, rest=b""):
    return len(text).to_bytes(4, "big") + text + rest


FRAMES = [
    b"",
    b"\xff\xff\xff\xff",
    framed(b"[" * 100_000),
    framed(b'{"tensor": "float32", "shape": [1000000, 1000000], "stride": null, "meta": false}'),
    framed(b'{"tensor": "float32", "shape": [-1], "stride": null, "meta": true}'),
    framed(b'{"dict": 7}'),
    framed(b'{"dict": {"reply": NaN}}'),
    framed(b"9" * 1_000_000),
    framed(b'{"tuple": [1, 2, 3]}', b"left over"),
    framed(b'{"dict": {"reply": {"dict": {"values": {"tuple": ["x"]}, "fault": [1, 2]}}}}'),
]
own = check.__globals__
whole = own["_frame"]


def strange(answer):
    if "outputs" in answer or "kind" in answer:
        return whole(answer)
    return FRAMES[hash(str(answer)) % len(FRAMES)]


own["_frame"] = strange

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    own["_frame"] = strange
    return -1.0, -1.0
