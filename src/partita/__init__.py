"""partita: many clusterings, played as one.

Ensemble (consensus) clustering: take many clusterings of the same samples, however made and
however incomplete, and return one that is better, with an account of how far to trust it.

>>> import partita
>>> labels = [[0, 0, 1, 1], [5, 5, 7, 7], ["a", "b", "b", "b"]]
>>> partita.LWGP(n_clusters=2, random_state=0).fit_predict(labels)
array([0, 0, 1, 1])

Public names are loaded when first used, so that `import partita` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.alignment import *
    from partita.checkpoint import *
    from partita.choosing import *
    from partita.clustering import *
    from partita.comparison import *
    from partita.config import *
    from partita.consensus import *
    from partita.conversion import *
    from partita.diagnostics import *
    from partita.ensemble import *
    from partita.generate import *
    from partita.matrices import *
    from partita.metrics import *
    from partita.planning import *
    from partita.registry import *
    from partita.solvers.affinity import *
    from partita.store import *

__version__ = "0.1.0"

# Every name in these modules' `__all__` is public as `partita.<name>`, and so are the modules.
_MODULES = (
    "consensus",
    "ensemble",
    "store",
    "checkpoint",
    "conversion",
    "generate",
    "choosing",
    "clustering",
    "diagnostics",
    "alignment",
    "comparison",
    "matrices",
    "metrics",
    "planning",
    "registry",
    "config",
    "solvers.affinity",
)
# These are loaded on demand too, but keep their names to themselves.
_SUBMODULES = (
    "datasets",
    "exceptions",
    "files",
    "plotting",
    "report",
    "solvers",
    "testing",
    "tools",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in _SUBMODULES:
        return import_module(f"partita.{name}")
    if name == "__all__":
        return [n for module in _MODULES for n in import_module(f"partita.{module}").__all__]
    if not name.startswith("_"):
        for module in map(import_module, (f"partita.{m}" for m in _MODULES)):
            if name in module.__all__:
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module 'partita' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_SUBMODULES, *__getattr__("__all__")})
