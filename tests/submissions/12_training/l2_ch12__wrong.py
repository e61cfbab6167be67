# rest: torch_style_ch12__pass
# hint: adamw_step.decay_in_the_gradient

# %%
def adamw_step(parameter, gradient, mean, square, step, lr, betas=(0.9, 0.95), eps=1e-8, decay=0.1):
    gradient = gradient + decay * parameter
    m = betas[0] * mean + (1 - betas[0]) * gradient
    v = betas[1] * square + (1 - betas[1]) * gradient ** 2
    m_hat = m / (1 - betas[0] ** step)
    v_hat = v / (1 - betas[1] ** step)
    return parameter - lr * m_hat / (v_hat.sqrt() + eps), m, v
