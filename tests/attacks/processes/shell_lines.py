# Runs shell commands by IPython's exclamation mark and cell magics.
# attacks: product_moments
# shows: attack over

# %%
shell = get_ipython()
for line in ("!echo got th''rough", "said = !echo got th''rough\nprint(said)"):
    shell.run_cell(line)
for magic in ("bash", "sh", "script bash", "system", "sx"):
    try:
        shell.run_cell_magic(magic.split()[0], " ".join(magic.split()[1:]), "echo got th''rough")
    except BaseException as error:
        print("refused:", magic, type(error).__name__)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
