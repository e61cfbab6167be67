# Calls the forbidden function in another thread, where no mode of torch looks.
# attacks: softmax
# verdicts: forbidden
# says: torch.softmax

# %%
import threading


def softmax(x, dim=-1):
    out = []
    call = getattr(torch, "soft" + "max")
    one = threading.Thread(target=lambda: out.append(call(x, dim)))
    one.start()
    one.join()
    return out[0]
