# rest: step_by_step_ch04__pass
# hint: cross_attention.shortest_length_for_all

# %%
def cross_attention(x, memory, lengths, weights, heads):
    shortest = int(lengths.min())
    return multi_head_attention(x, memory[:, :shortest], weights, heads)
