# Puts a script into the name of a type, which the judge's message quotes.
# attacks: attention_cost
# verdicts: wrong

# %%
Script = type("<script>alert(document.cookie)</script>", (), {})


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return Script()
