"""The BLEU columns of Tables 5.1 and 5.3 of von Däniken (2023), for docs/reproduction.md.

    python benchmarks/thesis_bleu.py --clones DIR

Computes sentence BLEU of all 1002 outputs from the public texts. Clone
https://github.com/wmt-conference/wmt21-news-systems into DIR (or name DIR in FEWGOLD_CLONES).
wmt21_ende has the human ratings of 527 outputs. The texts of ref-B are not public, so ref-B is left
out.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from _common import NO_DATA, need, read, table
from _common import arguments as common

from fewgold.bayes import AlphaPosterior, Counts, choose_cut
from fewgold.datasets import real_frame

# Printed for BLEU: mean and standard deviation in Table 5.1 (metric alone) and 5.3 (with people).
PRINTED = {
    "Facebook-AI": (0.51, 0.016, 0.67, 0.020),
    "HuaweiTSC": (0.48, 0.016, 0.58, 0.021),
    "Nemo": (0.49, 0.016, 0.64, 0.021),
    "Online-W": (0.50, 0.016, 0.64, 0.021),
    "UEdin": (0.49, 0.016, 0.59, 0.021),
    "VolcTrans-AT": (0.50, 0.016, 0.61, 0.021),
    "VolcTrans-GLAT": (0.50, 0.016, 0.64, 0.021),
    "eTranslation": (0.49, 0.016, 0.51, 0.021),
    "ref-A": (0.51, 0.016, 0.65, 0.021),
    "ref-D": (0.51, 0.016, 0.64, 0.021),
}
REPOSITORY = "wmt21-news-systems"
_THEIR_NAME = {"Nemo": "NVIDIA-NeMo"}


def outputs(folder: Path, system: str) -> list[str]:
    """All outputs of a system, or of a person."""
    if system.startswith("ref-"):
        path = folder / f"references/newstest2021.en-de.ref.{system[-1]}.de"
    else:
        name = _THEIR_NAME.get(system, system)
        path = folder / f"system-outputs/newstest2021.en-de.hyp.{name}.de"
    return path.read_text("utf-8").splitlines()


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--clones", default=os.environ.get("FEWGOLD_CLONES", ""))
    return parser


def main() -> None:
    options = read(arguments())
    need("wmt21_ende")
    folder = Path(options.clones) / REPOSITORY / "txt"
    if not options.clones or not folder.is_dir():
        print(
            f"This needs a clone of https://github.com/wmt-conference/{REPOSITORY}; name the "
            "folder that holds it with --clones or FEWGOLD_CLONES.",
            file=sys.stderr,
        )
        raise SystemExit(NO_DATA)
    import sacrebleu

    people = real_frame("wmt21_ende")
    reference = outputs(folder, "ref-C")
    rows, agree = [], [0, 0, 0, 0]
    for system, printed in list(PRINTED.items())[: 2 if options.quick else None]:
        score = np.array(
            [
                sacrebleu.sentence_bleu(one, [right]).score
                for one, right in zip(outputs(folder, system), reference, strict=True)
            ]
        )
        own = people[people["system"] == system]
        rated = own["seg_id"].to_numpy() - 1
        adequate = own["mqm"].to_numpy() == 0
        one = choose_cut(adequate, score[rated])(score)
        naive = AlphaPosterior(Counts(human_ones=int(one.sum()), human_total=one.size))
        said = one[rated]
        beyond = np.delete(one, rated)
        both = AlphaPosterior(
            Counts(
                tp=int((adequate & said).sum()), fn=int((adequate & ~said).sum()),
                fp=int((~adequate & said).sum()), tn=int((~adequate & ~said).sum()),
                metric_ones=int(beyond.sum()), metric_total=beyond.size,
            )
        )  # fmt: skip
        here = [p for x in (naive, both) for p in (float(x.mean), float(x.sd))]
        shown = []
        for k, (value, theirs, digits) in enumerate(zip(here, printed, (2, 3, 2, 3), strict=True)):
            agree[k] += f"{value:.{digits}f}" == f"{theirs:.{digits}f}"
            shown.append(f"{theirs:.{digits}f} / {value:.{digits + 1}f}")
        rows.append((system, *shown))
    rows.append(("as printed", *(f"{n} of {len(rows)}" for n in agree)))
    table(["paper / here", "5.1 mean", "5.1 sd", "5.3 mean", "5.3 sd"], rows)


if __name__ == "__main__":
    main()
