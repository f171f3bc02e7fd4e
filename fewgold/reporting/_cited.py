"""Papers that describe methods, and how they are cited."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

COCHRAN = "Cochran (1977), Sampling Techniques, third edition, Wiley"
SALDIAS = (
    "Saldías Fuentes, Foster, Freitag and Tan (2022), Toward More Effective Human Evaluation for "
    "Machine Translation, Workshop on Human Evaluation of NLP Systems (HumEval)"
)
DANIKEN = (
    "von Däniken, Deriu, Tuggener and Cieliebak (2022), On the Effectiveness of Automated Metrics "
    "for Text Generation Systems, Findings of EMNLP"
)
NEYMAN = "Neyman (1934), On the two different aspects of the representative method, JRSS 97"
MODEL_ASSISTED = "Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, Springer"


@dataclass(frozen=True)
class Words:
    """What a method does, why one takes it, and the papers to cite for it."""

    does: str
    why: str
    papers: tuple[str, ...] = ()


# Authors and year at the head of a reference; three or more authors are the first et al.
_AUTHORS = re.compile(r"(?:after )?([^()\d]+?) \((\d{4})\)")


def papers(*lists: Iterable[str]) -> list[str]:
    """Papers without repeats, in alphabetical order."""
    unique = {paper for papers in lists for paper in papers if paper}
    return sorted(unique, key=lambda paper: paper.removeprefix("von ").casefold())


def _authors(names: str) -> str:
    return f"{names.partition(',')[0]} et al." if "," in names else names


def in_text(papers: Iterable[str]) -> str:
    """Papers as they are cited in running text, such as ``Owen, 1988; Cochran, 1977``."""
    found = [f"{_authors(m[1])}, {m[2]}" for m in map(_AUTHORS.match, papers) if m]
    return "; ".join(dict.fromkeys(found))
