"""Compiled forms of the kernels, for numba. `partita._kernels` has their definitions.

A compiled form has the name, the arguments and the result of its definition. Its docstring says
how it is fast. What slows the compiler stays outside: a kernel allocates as few arrays as possible,
formats no text, and inlines only what is called for every row.
"""
