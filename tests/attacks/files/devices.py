# Makes and opens devices: memory, disks, terminals, the kernel's log.
# attacks: product_moments
# shows: attack over

# %%
import os
import stat

for name in ("mem", "kmem", "port", "sda", "vda", "kmsg", "tty", "console", "ptmx", "fuse", "kvm"):
    try:
        os.close(os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK))
        print("got", "through:", name)
    except OSError:
        pass
for major, minor in ((1, 1), (8, 0), (254, 0), (1, 5)):
    try:
        os.mknod("course_attack_device", stat.S_IFCHR | 0o600, os.makedev(major, minor))
        os.open("course_attack_device", os.O_RDONLY)
        print("got", "through:", major, minor)
    except OSError as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
