# Prints what is no text: half surrogate pairs, control characters, colours that clear a terminal.
# attacks: attention_cost
# verdicts: wrong

# %%
import sys

print("\ud800\udfff\udc00 \x00 \x1b[2J\x1b]0;title\x07 \x9b31m \u202e right to left \ufeff")
sys.stdout.write("\x08" * 1000)


class Name(str):
    def __str__(self):
        return "\ud800"


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    print("\udcff\x00\x1b[31m")
    return Name("\ud800\x00"), {"\ud800": b"\xff"}
