# rest: library_style_ch08__pass
# hint: glu.value_first

# %%
def glu(fused, activation):
    a, b = fused.chunk(2, dim=-1)
    return a * activation(b)
