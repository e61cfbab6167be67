# Replaces, closes and detaches the streams that the grader listens to.
# attacks: product_moments
# verdicts: wrong, exception, exited

# %%
import io
import sys

sys.stdout.close = sys.stdout.flush = None
try:
    sys.__stdout__.close()
    sys.__stderr__.detach()
except BaseException as error:
    print(type(error).__name__)


class Never(io.StringIO):
    def write(self, text):
        raise SystemExit

    getvalue = read = write


sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Never()

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
