# A thread answers the judge's next question before the runner can, with the numbers of the last.
# attacks: product_moments
# verdicts: wrong, output, exited, time, exception, not answered

# %%
import gc
import threading
import time
from multiprocessing.connection import Connection

wires = [thing for thing in gc.get_objects() if type(thing) is Connection]


def answering():
    last = b""
    while True:
        for wire in wires:
            try:
                last = wire.recv_bytes()
                wire.send_bytes(last)
                wire.send_bytes(last)
            except BaseException:
                time.sleep(0.01)


threading.Thread(target=answering, daemon=True).start()

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
