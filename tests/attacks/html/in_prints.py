# Prints HTML from the answer and from a cell.
# attacks: attention_cost
# verdicts: wrong

# %%
print("</pre><script>alert('cell')</script><!--")


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    print("</pre><script>alert('answer')</script><iframe src=//example.com>")
    return n_q, n_k
