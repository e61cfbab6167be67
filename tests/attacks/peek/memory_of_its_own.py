# Searches its own memory for texts that only the judge should know.
# attacks: attention_cost
# verdicts: wrong, exited, time

# %%
import ctypes
import gc
import re

# A letter in brackets, so that the search does not find itself. The answers of chapter 1 are given
# while chapter 2 is graded; the lines of its own answers are not.
WANTED = re.compile(rb"COURSE_CANAR[Y]|mix_flops = 2 \* n_[q]|score_flops = 2 \* n_[q]")


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    pages = sorted({id(thing) // 2**20 for thing in gc.get_objects()})
    for page in pages[:60]:
        found = WANTED.search(ctypes.string_at(page * 2**20, 2**20))
        if found:
            print("got", "through: memory", len(found[0]))
            break
    return n_q, n_k
