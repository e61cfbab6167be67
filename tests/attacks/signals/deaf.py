# Ignores every signal, the alarm of the time limit too, and does not end.
# attacks: attention_cost
# verdicts: time

# %%
import signal


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass
