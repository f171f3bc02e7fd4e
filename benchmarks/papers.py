"""List all tables and figures of three papers with a verdict; for docs/reproduction.md.

    python benchmarks/papers.py [daniken|estrella]

`fewgold reproduce saldias` prints the list for Saldías et al. (2022) at the top of its summary. It
takes half an hour.
"""

from __future__ import annotations

import argparse

from _common import arguments as common
from _common import need, read, table

from fewgold import reproduce

DRAWS = {"daniken": 100, "estrella": 1500}


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("paper", nargs="?", choices=tuple(DRAWS), help="both by default")
    return parser


def main() -> None:
    options = read(arguments())
    need("wmt20_ende", "wmt20_zhen", "wmt21_ende")
    for paper in (options.paper,) if options.paper else DRAWS:
        made = getattr(reproduce, paper)(draws=20 if options.quick else DRAWS[paper])
        rows = []
        for item, shows, status, verdict, remark in made.contents.itertuples(index=False):
            said = status if verdict == status else f"{status}: {verdict}"
            said = said.replace("with the errors named below", "with the errors of the paper")
            rows.append((item, shows, said, remark))
        table(["in the paper", "what it shows", "verdict", "remark"], rows, left=4)


if __name__ == "__main__":
    main()
