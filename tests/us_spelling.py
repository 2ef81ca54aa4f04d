"""British spellings and their US forms, for tests of identifiers and prose."""

from __future__ import annotations

import re

# Stems, so that "normalise", "normalised" and "normalisation" are one entry.
US_SPELLING = {
    "artefact": "artifact",
    "behaviour": "behavior",
    "centre": "center",
    "centred": "centered",
    "colour": "color",
    "discretis": "discretiz",
    "factoris": "factoriz",
    "favour": "favor",
    "generalis": "generaliz",
    "grey": "gray",
    "initialis": "initializ",
    "labelled": "labeled",
    "labelling": "labeling",
    "maximis": "maximiz",
    "minimis": "minimiz",
    "modelling": "modeling",
    "neighbour": "neighbor",
    "normalis": "normaliz",
    "optimis": "optimiz",
    "organis": "organiz",
    "parametris": "parametriz",
    "penalis": "penaliz",
    "randomis": "randomiz",
    "recognis": "recogniz",
    "regularis": "regulariz",
    "serialis": "serializ",
    "standardis": "standardiz",
    "summaris": "summariz",
    "symmetris": "symmetriz",
    "vectoris": "vectoriz",
    "visualis": "visualiz",
}
BRITISH = re.compile("|".join(US_SPELLING), re.IGNORECASE)


def british_words(text: str) -> list[str]:
    """Return the words of a text that hold a British stem."""
    return sorted({word for word in re.findall(r"\w+", text) if BRITISH.search(word)})
