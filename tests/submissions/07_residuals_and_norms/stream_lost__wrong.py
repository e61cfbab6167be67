# rest: short_norms__pass
# hint: pre_norm_block.stream_overwritten

# %%
def pre_norm_block(x, attend, feed_forward, gains):
    x = rms_norm(x, gains[0])
    x = x + attend(x)
    x = rms_norm(x, gains[1])
    return x + feed_forward(x)
