# Puts a script into an error's name, text and line.
# attacks: attention_cost
# verdicts: exception

# %%
Script = type("<img src=x onerror=alert(1)>", (Exception,), {})


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    raise Script("<script>alert(1)</script><style>*{display:none}</style>")  # </pre><script>
