"""Judge of what a single passage says of the loan it stands in, by meaning and not by wording.

A cue phrase tells that a passage speaks of security or of how credit is drawn; whether it speaks of *this* loan often
no phrase tells. The judge is the bundled sentence embedder with low-rank adapters (Hu et al. 2022) and one linear
layer, trained by `tools/train_judge.py` on the labelled statements of `training/loans/statements/` and the sentences of
the agreements of `training/loans/marked/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy

from ovrag_core.base import project_file, read_tensors
from ovrag_core.loans.reading.claims import Claim
from ovrag_core.loans.reading.sentences import Unit
from ovrag_core.retrieval import MAX_TOKENS, Encoder, Probabilities
from ovrag_core.text import score_words

CLASSES = ("SecuredLoan", "UnsecuredLoan", "OpenEndCredit", "ClosedEndCredit")
PLACES = {about: column for column, about in enumerate(CLASSES)}
WEIGHTS = Path("ontologies/lexicon/judge.safetensors")
KNOWN = 5_000  # passages whose judgement is kept
DOUBTFUL = 0.3  # below, a claim is a hint at most
ABSURD = 0.01  # below, it is none
SURE = 0.95  # above, a passage without a known phrase is a claim
OUTRIGHT = 3
FEWEST_WORDS = 4
MAY_SAY = 0.3  # of the screen: below, a passage is not judged
MOST = 12  # passages of a document that are judged without a claim, at most


class Judge:
    """Passages to probabilities; weights are read once."""

    def __init__(self, weights: Path) -> None:
        tensors, _ = read_tensors(weights)
        self._encoder = Encoder(tensors)
        self._screen = (tensors["screen.weight"].astype(numpy.float32), float(tensors["screen.bias"].item()))
        self._known: dict[str, Probabilities] = {}

    def screen(self, passages: Sequence[str]) -> Probabilities:
        """Estimate how likely each passage says anything at all, by its words alone (n, float32).

        It is a hundred times faster than a judgement.
        """
        weight, bias = self._screen
        scores = numpy.array([score_words(passage, weight) for passage in passages]) + bias
        found: Probabilities = (1 / (1 + numpy.exp(-scores))).astype(numpy.float32)
        return found

    def __call__(self, passages: Sequence[str]) -> Probabilities:
        """Return the probability that each passage states each of CLASSES (n × 4, float32).

        A passage may state a class and its opposite: the classes are judged apart.
        """
        judged = {passage: self._known.get(passage) for passage in passages}
        unknown = [passage for passage, row in judged.items() if row is None]
        ids = [self._encoder.tokens(passage).ids[:MAX_TOKENS] for passage in unknown]
        rows = self._encoder.probabilities(ids, [[[True] * len(tokens)] for tokens in ids], 2)[..., 1]
        new = dict(zip(unknown, rows, strict=True))
        if len(self._known) + len(new) > KNOWN:
            self._known.clear()
        self._known |= new
        judged |= new
        return numpy.array([judged[passage] for passage in passages], dtype=numpy.float32).reshape(-1, len(CLASSES))


def heed(judge: Judge, claims: Sequence[Claim], text: str, units: Sequence[Unit]) -> list[Claim]:
    """The claims as the judge sees them: one that its passage hardly bears out becomes a hint, or goes.

    A passage is judged without its heading and, where it then bears out nothing, under it: headings mislead as often
    as they lead.
    What a phrase states outright ("this loan is unsecured") needs no judgement, nor what a row says whose label names
    the matter ("Security: the house at …").
    """
    ours = [
        claim
        for claim in claims
        if claim.about in PLACES
        and (claim.implied or claim.strength < OUTRIGHT)
        and not (claim.strength >= OUTRIGHT and units[claim.unit].kind == "row" and units[claim.unit].label)
    ]
    judged = judge([passage_of("", text[claim.start : claim.end]) for claim in ours])
    open_ = [row for row, claim in enumerate(ours) if judged[row][PLACES[claim.about]] < DOUBTFUL]
    headed = judge([passage_of(units[ours[row].unit].heading, text[ours[row].start : ours[row].end]) for row in open_])
    if open_:
        judged[open_] = numpy.maximum(judged[open_], headed)
    kept = [claim for claim in claims if claim not in ours]
    for claim, found in zip(ours, judged, strict=True):
        probability = float(found[PLACES[claim.about]])
        if probability >= DOUBTFUL:
            kept.append(replace(claim, belief=probability))
        elif probability >= ABSURD:
            kept.append(replace(claim, strength=1, belief=probability))
    return kept


def sure_of(judge: Judge, claims: Sequence[Claim], text: str, units: Sequence[Unit]) -> dict[int, list[str]]:
    """Find what units surely say of which no claim was made: classes by the number of the unit."""
    known = {(claim.unit, claim.about) for claim in claims}
    asked = [
        number
        for number, unit in enumerate(units)
        if unit.kind in ("sentence", "row") and len(text[unit.start : unit.end].split()) >= FEWEST_WORDS
    ]
    passages = [passage_of(units[number].heading, text[units[number].start : units[number].end]) for number in asked]
    likely = judge.screen(passages)
    best = sorted(numpy.flatnonzero(likely >= MAY_SAY), key=lambda row: (-likely[row], row))[:MOST]
    asked = [asked[row] for row in best]
    judged = judge([passages[row] for row in best])
    return {
        number: abouts
        for number, found in zip(asked, judged, strict=True)
        if (abouts := [about for about, at in PLACES.items() if found[at] >= SURE and (number, about) not in known])
    }


@cache
def load_judge() -> Judge:
    """The judge, loaded once in a process."""
    return Judge(project_file(WEIGHTS))


def passage_of(heading: str, text: str) -> str:
    """Text to be judged: a passage under its heading."""
    text = " ".join(text.split())
    heading = " ".join(heading.split())
    return f"{heading}: {text}" if heading and not text.startswith(heading) else text
