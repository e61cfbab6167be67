"""A student's own answers, gathered into one module, and put in the place of the given ones."""
