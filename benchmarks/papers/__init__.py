"""Tables and figures of the papers.

Importing this package before NumPy fixes the arithmetic of BLAS and NumPy, so that a draw has the
same base partitions on every x86-64 machine with AVX2.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

# Both libraries choose among versions of their loops by the processor. The versions differ in the
# last bits of a sum, and spectral clustering with a very narrow kernel, whose leading eigenvalues
# are all 1 up to rounding, makes another partition of them.
# Names of NumPy from 2.4 on, then older ones; it ignores those that it does not know.
_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL"


def arithmetic(machine: str, features: set[str]) -> dict[str, str]:
    """Return environment variables that choose the loops for AVX2, if the processor has it."""
    if machine not in ("x86_64", "AMD64") or "avx2" not in features:
        return {}
    chosen = {"OPENBLAS_CORETYPE": "Haswell"}
    if "avx512f" in features:
        chosen["NPY_DISABLE_CPU_FEATURES"] = _AVX512
    return chosen


def processor_features() -> set[str]:
    """Return what the processor can do, as far as the system says so."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return set(next((line for line in lines if line.startswith("flags")), "").split())


if "numpy" not in sys.modules:  # later it has no effect here, and would change other processes
    for name, value in arithmetic(platform.machine(), processor_features()).items():
        os.environ.setdefault(name, value)
