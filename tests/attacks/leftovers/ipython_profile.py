# Writes start-up files and extensions for IPython, matplotlib and Jupyter.
# attacks: product_moments
# shows: attack over

# %%
import os

if "course_attack_left" in globals():
    print("got", "through: it ran")
HOME = os.path.expanduser("~")
for name in (
    ".ipython/profile_default/startup/00-course_attack.py",
    ".ipython/extensions/course_attack.py",
    ".config/matplotlib/matplotlibrc",
    ".jupyter/jupyter_notebook_config.py",
    ".pythonrc.py",
    ".cache/torch_extensions/course_attack.py",
):
    path = os.path.join(HOME, name)
    if os.path.exists(path):
        print("got", "through:", name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("course_attack_left = True\n")
    except OSError as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
