# Imports the course's own answer under another name.
# attacks: attention_cost
# verdicts: forbidden, exception, wrong, not answered

# %%
from solutions.costs import attention_cost as course


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return course(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
