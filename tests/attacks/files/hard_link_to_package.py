# Takes a writable second name for a package's file.
# attacks: product_moments
# shows: attack over

# %%
import os

for place in ("/tmp", "."):
    try:
        os.link(os.__file__, os.path.join(place, "course_attack_os.py"))
        os.close(os.open(os.path.join(place, "course_attack_os.py"), os.O_RDWR))
        print("got", "through:", place)
    except OSError as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
