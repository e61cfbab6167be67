# Looks for more than a stub behind the function that was given out and behind what is checked.
# attacks: attention_cost
# verdicts: wrong, exception, not answered, forbidden

# %%
import inspect


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    raise NotImplementedError


given = attention_cost
space = inspect.unwrap(given).__globals__


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    original = space.get("check", None) or given
    return inspect.unwrap(original)(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
