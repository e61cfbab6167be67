# Answers each question of the judge with a question, for ever.
# attacks: attention_cost
# verdicts: time, output, exited, wrong

# %%
import signal
import sys


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    frame = sys._getframe(1)
    while "encode" not in frame.f_globals:
        frame = frame.f_back
    own = frame.f_globals
    while "connection" not in frame.f_locals:
        frame = frame.f_back
    wire = frame.f_locals["connection"]
    signal.setitimer(signal.ITIMER_REAL, 0)
    question = {"call": "attention_cost", "args": (n_q, n_k, d_k, d_v), "kwargs": {}}
    while True:
        wire.send_bytes(own["encode"](question))
        values = own["decode"](wire.recv_bytes())["values"]
        if values:
            return values[0]
