# Reads through symbolic links, hard links and /proc's magic links.
# attacks: product_moments
# shows: attack over
# never: root:x:0

# %%
import os

for number, target in enumerate(("/etc/passwd", "/", "/proc/self/root", "/proc/1/root", "..")):
    os.symlink(target, f"course_attack_{number}")
    for name in (f"course_attack_{number}", f"course_attack_{number}/etc/passwd"):
        try:
            print(open(name).read(200))
        except OSError as error:
            print("refused:", error)
try:
    os.link("/etc/passwd", "course_attack_hard")
    print("got", "through: hard link")
except OSError as error:
    print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
