# rest: blocks_by_einsum_ch04__pass
# hint: split_heads.axis_lost

# %%
def split_heads(x, heads):
    pieces = x.reshape(*x.shape[:2], heads, -1).permute(0, 2, 1, 3)
    return pieces.squeeze()
