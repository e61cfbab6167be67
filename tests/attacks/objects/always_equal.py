# Answers with an object that is equal to everything.
# attacks: attention_cost, softmax_jacobian
# verdicts: wrong

# %%
class Equal:
    def __eq__(self, _):
        return True

    __le__ = __lt__ = __ge__ = __gt__ = __contains__ = __ne__ = __eq__

    def __getattr__(self, _):
        return Equal()

    def __call__(self, *_, **__):
        return Equal()

    def __bool__(self):
        return True

    def __hash__(self):
        return 0

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((Equal(), Equal()))

    __sub__ = __rsub__ = __add__ = __getitem__ = __call__

# %%
def softmax_jacobian(p):
    return Equal()

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return Equal(), Equal()
