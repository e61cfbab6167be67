# rest: fill_and_soften_ch03__pass
# hint: find_leak.raised_alike

# %%
def find_leak(model, x):
    before = model(x)
    columns = []
    for j in range(x.shape[0]):
        y = x.clone()
        y[j] += 1
        columns.append((model(y) != before).any(-1))
    return torch.stack(columns, dim=1).triu(1)
