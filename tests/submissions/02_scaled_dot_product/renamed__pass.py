# rest: einsum__pass
# file: homework (1).ipynb
