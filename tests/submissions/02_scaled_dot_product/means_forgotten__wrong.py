# rest: einsum__pass
# hint: product_moments.means_forgotten

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return d_k * mean_q * mean_k, d_k * var_q * var_k
