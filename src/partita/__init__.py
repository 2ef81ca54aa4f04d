"""Ensemble (consensus) clustering: combine many clusterings of the same samples into one.

>>> import partita
>>> partitions = [[0, 0, 1, 1], [5, 5, 7, 7], ["a", "b", "b", "b"]]
>>> partita.CCGP(n_clusters=2, random_state=0).fit_predict(partitions)
array([0, 0, 1, 1])

Every public name is imported when it is first used, so that `import partita` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. The comments are the headings of docs/api.md.
_PUBLIC = {
    # Methods
    "BCE": "consensus",
    "CCC": "consensus",
    "CCGP": "consensus",
    "CSPA": "consensus",
    "DREC": "consensus",
    "EAC": "consensus",
    "ECCMS": "consensus",
    "ECMC": "consensus",
    "ECPCS": "consensus",
    "GCC": "consensus",
    "GPMGLA": "consensus",
    "GWCA": "consensus",
    "HBGF": "consensus",
    "HGPA": "consensus",
    "KC": "consensus",
    "KCC": "consensus",
    "LCE": "consensus",
    "LWEA": "consensus",
    "LWGP": "consensus",
    "MCLA": "consensus",
    "MEC": "consensus",
    "MedianPartition": "consensus",
    "NMFC": "consensus",
    "NRSEC": "consensus",
    "PTA": "consensus",
    "PTGP": "consensus",
    "RCE": "consensus",
    "RMSC": "consensus",
    "RSEC": "consensus",
    "SEC": "consensus",
    "SPCE": "consensus",
    "TRCE": "consensus",
    "Voting": "consensus",
    "WEAC": "consensus",
    # Generators
    "LandmarkSpectral": "generators",
    "MixedEstimators": "generators",
    "RandomFeatures": "generators",
    "RandomK": "generators",
    "RandomLeiden": "generators",
    "RandomMetrics": "generators",
    "RandomProjections": "generators",
    "RandomRows": "generators",
    "SpectralBandwidths": "generators",
    # Verbs, named as on the command line
    "compare": "comparison",
    "convert": "io",
    "diagnose": "diagnostics",
    "evaluate": "metrics",
    "fuse": "fusion",
    "generate": "generators",
    "plan": "planning",
    "report": "reporting",
    "scan_k": "select_k",
    "segment": "generators",
    # Data, results and estimators
    "Checkpoint": "scale",
    "Comparison": "comparison",
    "Diagnosis": "diagnostics",
    "Ensemble": "ensemble",
    "EnsembleClustering": "clustering",
    "Fusion": "fusion",
    "KScan": "select_k",
    "LabelStore": "io",
    "Plan": "planning",
    # Other functions
    "add_consensus": "fusion",
    "agglomerate_affinity": "solvers",
    "align_labels": "alignment",
    "cluster_tree": "alignment",
    "membership": "diagnostics",
    "scan_k_features": "select_k",
    # Matrices and measures
    "accuracy": "metrics",
    "adjusted_rand": "metrics",
    "coassociation": "matrices",
    "enhanced_coassociation": "matrices",
    "locally_weighted_coassociation": "matrices",
    "nmi": "metrics",
    "trajectory_similarity": "matrices",
    # Registry and contract of a method
    "BaseConsensus": "consensus",
    "MethodInfo": "consensus",
    "Solution": "consensus",
    "all_methods": "registry",
    "get_method": "registry",
    # Settings
    "config_context": "config",
    "get_config": "config",
    "set_config": "config",
}
# Public modules, imported when they are first used.
_MODULES = sorted(
    {
        *_PUBLIC.values(),
        "datasets",
        "exceptions",
        "multiview",
        "pl",
        "plotting",
        "structure",
        "testing",
        "tl",
    }
)

__all__ = list(_PUBLIC)

if TYPE_CHECKING:
    # Type checkers and editors cannot read the dictionary. A test compares it with these imports.
    from partita.alignment import align_labels as align_labels
    from partita.alignment import cluster_tree as cluster_tree
    from partita.clustering import EnsembleClustering as EnsembleClustering
    from partita.comparison import Comparison as Comparison
    from partita.comparison import compare as compare
    from partita.config import config_context as config_context
    from partita.config import get_config as get_config
    from partita.config import set_config as set_config
    from partita.consensus import BCE as BCE
    from partita.consensus import CCC as CCC
    from partita.consensus import CCGP as CCGP
    from partita.consensus import CSPA as CSPA
    from partita.consensus import DREC as DREC
    from partita.consensus import EAC as EAC
    from partita.consensus import ECCMS as ECCMS
    from partita.consensus import ECMC as ECMC
    from partita.consensus import ECPCS as ECPCS
    from partita.consensus import GCC as GCC
    from partita.consensus import GPMGLA as GPMGLA
    from partita.consensus import GWCA as GWCA
    from partita.consensus import HBGF as HBGF
    from partita.consensus import HGPA as HGPA
    from partita.consensus import KC as KC
    from partita.consensus import KCC as KCC
    from partita.consensus import LCE as LCE
    from partita.consensus import LWEA as LWEA
    from partita.consensus import LWGP as LWGP
    from partita.consensus import MCLA as MCLA
    from partita.consensus import MEC as MEC
    from partita.consensus import NMFC as NMFC
    from partita.consensus import NRSEC as NRSEC
    from partita.consensus import PTA as PTA
    from partita.consensus import PTGP as PTGP
    from partita.consensus import RCE as RCE
    from partita.consensus import RMSC as RMSC
    from partita.consensus import RSEC as RSEC
    from partita.consensus import SEC as SEC
    from partita.consensus import SPCE as SPCE
    from partita.consensus import TRCE as TRCE
    from partita.consensus import WEAC as WEAC
    from partita.consensus import BaseConsensus as BaseConsensus
    from partita.consensus import MedianPartition as MedianPartition
    from partita.consensus import MethodInfo as MethodInfo
    from partita.consensus import Solution as Solution
    from partita.consensus import Voting as Voting
    from partita.diagnostics import Diagnosis as Diagnosis
    from partita.diagnostics import diagnose as diagnose
    from partita.diagnostics import membership as membership
    from partita.ensemble import Ensemble as Ensemble
    from partita.fusion import Fusion as Fusion
    from partita.fusion import add_consensus as add_consensus
    from partita.fusion import fuse as fuse
    from partita.generators import LandmarkSpectral as LandmarkSpectral
    from partita.generators import MixedEstimators as MixedEstimators
    from partita.generators import RandomFeatures as RandomFeatures
    from partita.generators import RandomK as RandomK
    from partita.generators import RandomLeiden as RandomLeiden
    from partita.generators import RandomMetrics as RandomMetrics
    from partita.generators import RandomProjections as RandomProjections
    from partita.generators import RandomRows as RandomRows
    from partita.generators import SpectralBandwidths as SpectralBandwidths
    from partita.generators import generate as generate
    from partita.generators import segment as segment
    from partita.io import LabelStore as LabelStore
    from partita.io import convert as convert
    from partita.matrices import coassociation as coassociation
    from partita.matrices import enhanced_coassociation as enhanced_coassociation
    from partita.matrices import locally_weighted_coassociation as locally_weighted_coassociation
    from partita.matrices import trajectory_similarity as trajectory_similarity
    from partita.metrics import accuracy as accuracy
    from partita.metrics import adjusted_rand as adjusted_rand
    from partita.metrics import evaluate as evaluate
    from partita.metrics import nmi as nmi
    from partita.planning import Plan as Plan
    from partita.planning import plan as plan
    from partita.registry import all_methods as all_methods
    from partita.registry import get_method as get_method
    from partita.reporting import report as report
    from partita.scale import Checkpoint as Checkpoint
    from partita.select_k import KScan as KScan
    from partita.select_k import scan_k as scan_k
    from partita.select_k import scan_k_features as scan_k_features
    from partita.solvers import agglomerate_affinity as agglomerate_affinity

else:

    def __getattr__(name: str) -> Any:
        if name in _PUBLIC:
            value = getattr(import_module(f"partita.{_PUBLIC[name]}"), name)
            globals()[name] = value
            return value
        if name in _MODULES:
            return import_module(f"partita.{name}")
        raise AttributeError(f"module 'partita' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_PUBLIC, *_MODULES})
