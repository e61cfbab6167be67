# Remembers every question on disk and in modules, and repeats what it saw before.
# attacks: attention_cost

# %%
import json
import os
import sys

seen = sys.modules.setdefault("course_attack_seen", type(sys)("course_attack_seen")).__dict__


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    key = json.dumps([n_q, n_k, d_k, d_v, bytes_per_number])
    if os.path.exists("course_attack.json"):
        seen.update(json.load(open("course_attack.json")))
    seen[key] = [n_q, n_k]
    text = json.dumps({k: v for k, v in seen.items() if k.startswith("[")})
    open("course_attack.json", "w").write(text)
    return tuple(seen[key])
