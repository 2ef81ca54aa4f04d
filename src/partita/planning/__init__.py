"""`plan`: predict memory and time of a fit from small fits on this machine."""

from partita.planning._plan import Plan, plan

__all__ = ["Plan", "plan"]
