# Shows HTML, JavaScript, SVG, Markdown and LaTeX that run or fetch when a page holds them.
# attacks: attention_cost
# verdicts: wrong

# %%
from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display

display(HTML("<script>document.title = 'full marks'</script><img src=x onerror=alert(1)>"))
display(Javascript("alert(1)"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'></svg>"))
display(Markdown("<script>alert(1)</script> [x](javascript:alert(1))"))
display(Latex(r"$\href{javascript:alert(1)}{x}$"))
display({"text/html": "<base href=//example.com>", "image/png": "<script>"}, raw=True)
display({"application/javascript": "alert(1)", '"><script>': "x", "image/svg+xml": "<svg/>"}, raw=True)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return n_q, n_k
