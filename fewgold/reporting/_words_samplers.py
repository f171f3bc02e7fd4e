"""Samplers in words, and where they are described."""

from __future__ import annotations

from fewgold.reporting._cited import COCHRAN, NEYMAN, SALDIAS, Words

SAMPLERS = {
    "random": Words(
        "Segments were drawn at random, every set of them equally likely.",
        "It needs no assumption and no metric, and every interval is proved or tried for it.",
        (COCHRAN,),
    ),
    "docs-prop": Words(
        "Each document got its share of the ratings, and segments within it were drawn at random.",
        "Segments of one document resemble each other, so spreading ratings over documents tells "
        "more than drawing them anywhere.",
        (COCHRAN, SALDIAS),
    ),
    "docs-opt": Words(
        "Documents whose metrics vary more got more ratings, and the ratings are weighted back.",
        "Where scores vary more, one rating tells less, so more are worth having.",
        (NEYMAN, SALDIAS),
    ),
    "metrics-prop": Words(
        "Segments were put into bins from low to high metrics, and each bin got its share.",
        "Good and bad outputs are then represented as they are in the pool.",
        (COCHRAN, SALDIAS),
    ),
    "metrics-opt": Words(
        "Segments were put into bins from low to high metrics; bins in which the metrics vary more "
        "got more ratings, which are weighted back.",
        "Good and bad outputs are represented, and more ratings go where scores vary more.",
        (NEYMAN, SALDIAS),
    ),
    "docs-sys": Words(
        "The documents were put in a line in random order, and segments taken from it at regular "
        "distances after a random start.",
        "No document gets more than its due, however few the ratings are.",
        (
            "Madow and Madow (1944), On the theory of systematic sampling, Annals of Mathematical "
            "Statistics 15",
        ),
    ),
    "docs-balanced": Words(
        "Segments were drawn at random so that their metrics average as they do in the pool and "
        "they are spread over the documents, all with the same chance in one draw: balanced "
        "sampling by the cube method.",
        "What the metrics tell about the scores is then no longer left to chance.",
        (
            "Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91",
            "Hasler and Tillé (2014), Fast balanced sampling for highly stratified population, "
            "Computational Statistics and Data Analysis 74",
        ),
    ),
    "docs-whole": Words(
        "Documents in random order were taken whole until the budget was spent.",
        "Raters see the context. The price is that segments of one document resemble each other, "
        "so that each tells less.",
        (COCHRAN,),
    ),
    "docs-chunks": Words(
        "Stretches of consecutive segments were taken at regular distances from the documents in "
        "random order.",
        "Raters see some context, and the ratings are spread over more documents than whole ones "
        "would be.",
        (COCHRAN,),
    ),
    "docs-incr": Words(
        "Each further rating went to the document where the ratings so far, or predictions from "
        "them, vary most for its size.",
        "It learns where ratings are needed; because the scores decide what is rated, the mean is "
        "biased.",
        (SALDIAS,),
    ),
}
