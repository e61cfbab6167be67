# Starts workers with multiprocessing, torch and concurrent.futures.
# attacks: product_moments
# shows: attack over

# %%
import concurrent.futures
import multiprocessing
import os


def by_multiprocessing(method):
    worker = multiprocessing.get_context(method).Process(target=os.getpid, daemon=True)
    worker.start()
    worker.join(5)
    return worker.exitcode == 0


def by_futures():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(os.getpid).result(5) > 0


for name, road in {
    "fork": lambda: by_multiprocessing("fork"),
    "spawn": lambda: by_multiprocessing("spawn"),
    "futures": by_futures,
}.items():
    try:
        if road():
            print("got", "through:", name)
    except BaseException as error:
        print("refused:", name, type(error).__name__)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
