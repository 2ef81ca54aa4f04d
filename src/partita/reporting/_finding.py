"""One finding of a report."""

from __future__ import annotations

__all__ = ["Finding", "count", "make_finding"]

Finding = dict[str, str]


def make_finding(question: str, answer: str, fine: bool | None = None, advice: str = "") -> Finding:
    """Return a finding; its mark is "fine", "look" or "plain".

    Parameters
    ----------
    question, answer : str
        The question about the consensus, and the answer.
    fine : bool, optional
        Whether all is well. By default the answer has no mark.
    advice : str, default=""
        What to do if it is not; shown only then.
    """
    mark = "plain" if fine is None else "fine" if fine else "look"
    return {
        "question": question,
        "answer": answer,
        "mark": mark,
        "advice": advice if mark == "look" else "",
    }


def count(n: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{n:,} {noun}{'s' * (n != 1)}"
