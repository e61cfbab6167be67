# Reads the course's source by every tool that shows source.
# attacks: product_moments
# shows: attack over
# never: BEGIN SOLUTION

# %%
import importlib.resources
import importlib.util
import linecache
import pkgutil
import pydoc

for package in ("solutions", "autograder", "autograder.exercises", "book", "notebooks"):
    for name, road in {
        "resources": lambda: [p.name for p in importlib.resources.files(package).iterdir()],
        "spec": lambda: linecache.getlines(importlib.util.find_spec(package).origin),
        "data": lambda: pkgutil.get_data(package, "__init__.py"),
        "help": lambda: pydoc.render_doc(package, renderer=pydoc.plaintext)[:2000],
    }.items():
        try:
            print(package, name, road())
        except BaseException as error:
            print("refused:", package, name, type(error).__name__)
for name in ("softmax", "costs", "attention", "score_statistics"):
    try:
        text = pkgutil.get_data("solutions", name + ".py").decode()
        print(text)
    except BaseException as error:
        print("refused:", name, type(error).__name__)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
