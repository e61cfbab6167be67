# Leaves files that are hard to remove: no rights, strange names, pipes, a running map.
# attacks: product_moments
# shows: attack over

# %%
import mmap
import os

os.makedirs("course_attack/a/b", exist_ok=True)
os.mkfifo("course_attack/pipe")
os.symlink("/", "course_attack/root")
os.symlink("..", "course_attack/up")
open(b"course_attack/\xff\n\x1b[2J", "w").close()
with open("course_attack/map", "w+b") as file:
    file.truncate(4096)
    held = mmap.mmap(file.fileno(), 4096)
os.chmod("course_attack/a/b", 0)
os.chmod("course_attack", 0)
try:
    os.chmod(".", 0o500)
except OSError as error:
    print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
