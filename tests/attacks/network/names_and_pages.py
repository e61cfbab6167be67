# Looks up a name and fetches a page: each would carry data out.
# attacks: product_moments
# shows: attack over

# %%
import socket
import urllib.request

socket.setdefaulttimeout(1)
for name, road in {
    "dns": lambda: socket.getaddrinfo("course-attack.example.com", 80),
    "page": lambda: urllib.request.urlopen("http://93.184.215.14/", timeout=1).read(10),
    "metadata": lambda: urllib.request.urlopen("http://169.254.169.254/", timeout=1).read(10),
}.items():
    try:
        print("got", "through:", name, road())
    except Exception as error:
        print("refused:", name, error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
