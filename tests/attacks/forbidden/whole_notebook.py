# Binds the name of the exercise itself to the forbidden function, without a definition.
# attacks: softmax
# verdicts: forbidden, exception, not answered
# says: torch.softmax

# %%
softmax = torch.softmax
