"""Finds the words for a sampler, an estimator or a kind of interval, also for those of your own."""

from __future__ import annotations

from fewgold.reporting._cited import Words
from fewgold.reporting._words_estimators import ALONE, ESTIMATORS
from fewgold.reporting._words_samplers import SAMPLERS

_PRINTED = "Followed as printed in the paper, known errors included, to reproduce it."


def sampler_words(name: str, doc: str = "") -> Words:
    """What a sampler does; ``doc`` is the docstring that speaks for one of your own."""
    return _found(name, SAMPLERS, doc)


def estimator_words(name: str, doc: str = "", *, how: str | None = None) -> Words:
    """What an estimator does; ``doc`` is the docstring that speaks for one of your own.

    ``how`` is how the binary model used a metric, empty if it used none.
    """
    if how == "":
        return ALONE
    return _found(name, ESTIMATORS, doc)


def _found(name: str, known: dict[str, Words], doc: str) -> Words:
    base = name.removesuffix("-printed")
    fitting = [key for key in known if base == key or _continues(base, key)]
    if not fitting:
        first = doc.strip().partition("\n")[0].strip() or f"{name}, a method of your own."
        return Words(first, "")
    words = known[max(fitting, key=len)]
    return words if base == name else Words(f"{words.does} {_PRINTED}", words.why, words.papers)


def _continues(name: str, key: str) -> bool:
    """``docs-chunks3`` goes on from docs-chunks, ``cv-comet`` from cv, ``docs-optimist`` not."""
    rest = name.removeprefix(key)
    return rest != name and (rest[0] == "-" or (key == "docs-chunks" and rest.isdigit()))


_KINDS = {
    "guaranteed": "Guaranteed: at least {level} of such intervals hold the true value, whatever "
    "the scores are, as long as they lie on the stated scale and were drawn as stated.",
    "conjectured": "Conjectured: no case is known in which fewer than {level} of such intervals "
    "hold the true value, but it is not proved.",
    "approximate": "Approximate: about {level} of such intervals hold the true value, the more "
    "closely the more ratings there are.",
    "credible": "Credible: given the model and its priors, the true value lies in it with a "
    "probability of {level}.",
}


def promise(kind: str, level: str) -> str:
    """What an interval of that kind promises, in a sentence; nothing for kinds of your own."""
    return _KINDS.get(kind, "").format(level=level)
