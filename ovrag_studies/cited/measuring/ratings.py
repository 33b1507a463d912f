"""Answers rated by two people who do not know which arm gave them, and how far the two agree.

A pack holds the answers in a shuffled order, under names that say nothing; its key, a file of its own, tells the arms.
A rating names its pack by its hash. The scales are those of Policy Copilot: G0 a claim that the quotations do not bear
out (yes or no), G1 supported claims of all claims, G2 citations 0 to 2, U1 clarity and U2 actionability 1 to 5.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import pandas
from pydantic import Field, model_validator

from ovrag_core.base import Frozen, ResultError, parse, read_records, read_text, write_text
from ovrag_core.evaluation import Agreement, Resampling, agreement
from ovrag_studies.cited.answering.quotations import CitedSentence
from ovrag_studies.cited.corpus.sources import text_digest
from ovrag_studies.cited.records import PolicyRecord

PACK, KEY, RATINGS = "pack.json", "key.json", "ratings.jsonl"
REMEDY = "make the pack anew"
BINS = {1: "low", 2: "low", 3: "middle", 4: "high", 5: "high"}
SCALES: Mapping[str, Sequence[object]] = {  # with their values; of G1 the share in five steps
    "G0": (0, 1),
    "G1": range(5),
    "G2": range(3),
    "U1 binned": ("low", "middle", "high"),
    "U1": range(1, 6),
    "U2": range(1, 6),
}


class RatedItem(Frozen):
    """An answer to be rated."""

    name: str
    question: str
    sentences: tuple[CitedSentence, ...]


class Pack(Frozen):
    """Answers in the order in which they were shuffled."""

    items: tuple[RatedItem, ...]

    @property
    def digest(self) -> str:
        """The hash by which ratings name the pack."""
        return text_digest(self.model_dump_json())


class PackKey(Frozen):
    """Key of a pack: the arm that each answer is of."""

    arms: dict[str, str]


class Rating(Frozen, strict=True):
    """A rater's judgement of one answer; G0 is yes where not all claims are supported."""

    pack: str
    item: str
    rater: Annotated[str, Field(min_length=1, max_length=60)]
    supported: Annotated[int, Field(ge=0)]
    claims: Annotated[int, Field(ge=1)]
    g2: Annotated[int, Field(ge=0, le=2)]
    u1: Annotated[int, Field(ge=1, le=5)]
    u2: Annotated[int, Field(ge=1, le=5)]

    @model_validator(mode="after")
    def _no_more_than_all(self) -> Self:
        if self.supported > self.claims:
            raise ValueError("more claims are supported than there are")
        return self


class AgreementReport(NamedTuple):
    """Agreement by scale, and means by arm and scale over both raters, on the answers that both rated."""

    agreement: dict[str, Agreement]
    means: pandas.DataFrame


def make_pack(records: Iterable[PolicyRecord], seed: int) -> tuple[Pack, PackKey]:
    """Return a blind pack of the answers that say something, and its key. Raises ResultError where none does."""
    # Sorted first: the order of the pack must not depend on the order in which arms were run.
    answers = sorted((r for r in records if not r.silent), key=lambda record: (record.query_id, record.arm))
    if not answers:
        raise ResultError("no answer says anything, so there is nothing to rate; take a run with answers")
    random.Random(seed).shuffle(answers)
    named = {f"a{number:03}": record for number, record in enumerate(answers, 1)}
    items = (RatedItem(name=name, question=r.question, sentences=r.sentences) for name, r in named.items())
    return Pack(items=tuple(items)), PackKey(arms={name: record.arm for name, record in named.items()})


def write_pack(folder: Path, pack: Pack, key: PackKey) -> None:
    """Write the pack and, for after the rating, its key. Raises ResultError where the folder holds something."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ResultError(f"{folder} is not empty; name a folder for the rating pack that is")
    write_text(pack.model_dump_json(indent=1) + "\n", folder / PACK, ResultError, parents=True)
    write_text(key.model_dump_json(indent=1) + "\n", folder / KEY, ResultError)


def read_pack(folder: Path) -> Pack:
    """Return the pack of a folder. Raises ResultError where there is none, or none of this form."""
    path = folder / PACK
    return parse(read_text(path, ResultError, "make a rating pack first"), Pack, str(path), ResultError, REMEDY)


def add_rating(folder: Path, rating: Rating) -> None:
    """Add a rating at the end of the file of ratings; of several of one answer the last counts."""
    with (folder / RATINGS).open("a", encoding="utf-8") as file:
        file.write(rating.model_dump_json() + "\n")


def read_ratings(folder: Path, pack: Pack) -> dict[str, dict[str, Rating]]:
    """Return the ratings of a pack by rater and answer. Raises ResultError, with the line, for one of another pack."""
    path, names = folder / RATINGS, {item.name for item in pack.items}
    ratings: dict[str, dict[str, Rating]] = {}
    for number, rating in read_records(path, Rating, ResultError, "move the file away") if path.exists() else ():
        if rating.pack != pack.digest or rating.item not in names:
            raise ResultError(f"{path}, line {number}: rates an answer of another pack; move the file away")
        ratings.setdefault(rating.rater, {})[rating.item] = rating
    return ratings


def compare_raters(
    first: Mapping[str, Rating], second: Mapping[str, Rating], arms: Mapping[str, str], plan: Resampling
) -> AgreementReport:
    """Compare two raters on the answers that both rated; `arms` by answer.

    Kappa of G0 and of U1 in three bins, as published, with PABAK; weighted kappa (quadratic) of the others. Raises
    ResultError where they rated no answer in common.
    """
    both = sorted(set(first) & set(second))
    if not both:
        raise ResultError("the two raters have no answer in common; let both rate the same pack")
    one, other = (_frame([ratings[name] for name in both]) for ratings in (first, second))
    agreed = {}
    for scale, values in SCALES.items():
        weights: Literal["none", "quadratic"] = "none" if scale in ("G0", "U1 binned") else "quadratic"
        agreed[scale] = agreement(one[scale].tolist(), other[scale].tolist(), list(values), plan, weights=weights)
    rated = pandas.concat([one, other]).assign(G1=lambda frame: frame["share"])
    means = rated.groupby([arms[name] for name in rated.index])[["G0", "G1", "G2", "U1", "U2"]].mean()
    return AgreementReport(agreed, means)


def read_report(folder: Path, plan: Resampling) -> AgreementReport | None:
    """Compare the first two raters of a folder; None until two have rated. Raises ResultError as the readers do."""
    pack, path = read_pack(folder), folder / KEY
    raters = list(read_ratings(folder, pack).values())
    if len(raters) < 2:
        return None
    arms = parse(read_text(path, ResultError, REMEDY), PackKey, str(path), ResultError, REMEDY).arms
    if set(arms) != {item.name for item in pack.items}:
        raise ResultError(f"{path} is the key of another pack; {REMEDY}")
    return compare_raters(raters[0], raters[1], arms, plan)


def _frame(ratings: Sequence[Rating]) -> pandas.DataFrame:
    """Return the scales of ratings as columns, by answer; G1 is in five steps, `share` as it is."""
    frame = pandas.DataFrame([rating.model_dump() for rating in ratings]).set_index("item").rename(columns=str.upper)
    share = frame["SUPPORTED"] / frame["CLAIMS"]
    binned = {"U1 binned": frame["U1"].map(BINS)}
    return frame.assign(G0=(share < 1).astype(int), G1=(4 * share).round().astype(int), share=share, **binned)
