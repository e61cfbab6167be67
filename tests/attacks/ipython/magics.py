# Uses magics that change folders, run files, load extensions and rename magics.
# attacks: product_moments
# shows: attack over
# never: root:x:0

# %%
shell = get_ipython()
for magic, line in (
    ("cd", "/"),
    ("run", "/etc/passwd"),
    ("load", "/etc/passwd"),
    ("pycat", "/etc/passwd"),
    ("alias", "check true"),
    ("alias_magic", "matplotlib reset"),
    ("load_ext", "course_attack"),
    ("store", "shell"),
    ("logstart", "/tmp/course_attack.log"),
    ("rehashx", ""),
    ("env", ""),
    ("set_env", "COURSE_SEED=public"),
    ("pip", "install course-attack"),
    ("sx", "cat /etc/passwd"),
    ("notebook", "/tmp/course_attack.ipynb"),
    ("killbgscripts", ""),
    ("autoreload", "2"),
):
    try:
        print(shell.run_line_magic(magic, line))
    except BaseException as error:
        print("refused:", magic, type(error).__name__)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
