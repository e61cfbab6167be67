# Leaves memory, semaphores, queues and keys in the kernel for the next submission.
# attacks: product_moments
# shows: attack over

# %%
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
KEY, EXISTING, NEW = 0x636F7572, 0o666, 0o1000 | 0o666
for name, look, make in (
    ("memory", lambda f: libc.shmget(KEY, 4096, f), None),
    ("semaphore", lambda f: libc.semget(KEY, 1, f), None),
    ("queue", lambda f: libc.msgget(KEY, f), None),
):
    if look(EXISTING) >= 0:
        print("got", "through:", name)
    look(NEW)
ADD_KEY, REQUEST_KEY = (248, 249) if platform.machine() == "x86_64" else (217, 218)
for ring in (-3, -4, -5):
    if libc.syscall(REQUEST_KEY, b"user", b"course_attack", None, ring) > 0:
        print("got", "through: key")
    libc.syscall(ADD_KEY, b"user", b"course_attack", b"left", 4, ring)
for call in ("shm_open", "sem_open", "mq_open"):
    try:
        one = getattr(ctypes.CDLL("librt.so.1", use_errno=True), call)
        print(call, one(b"/course_attack", 0o102, 0o666, None))
    except (OSError, AttributeError) as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
