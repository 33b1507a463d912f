"""Answers rated by two people who do not know which arm gave them, and how far the two agree.

A pack holds the answers in a shuffled order, under names that say nothing; its key, a file of its own, tells arm and
query. A rating belongs to one pack, which it names by its hash. The scales are those of Policy Copilot: G0 a claim that
the quotations do not bear out (yes or no), G1 supported claims of all claims, G2 citations 0 to 2, U1 clarity and U2
actionability 1 to 5.
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
from ovrag_studies.cited.corpus.sources import text_digest, text_hash
from ovrag_studies.cited.records import PolicyRecord

PACK, KEY = "pack.json", "key.json"
REMEDY = "make the pack anew"
BINS = {1: "low", 2: "low", 3: "middle", 4: "high", 5: "high"}
SCALES: Mapping[str, str] = {
    "G0": "Does the answer hold a claim that its quotations do not bear out?",
    "G1": "Of the claims of the answer, how many do the quotations bear out?",
    "G2": "Citations: 0 wrong or missing, 1 in part, 2 each at the right place",
    "U1": "Clarity, from 1 (unintelligible) to 5 (clear at the first reading)",
    "U2": "Actionability, from 1 (of no use) to 5 (I know what to do)",
}


class RatedItem(Frozen):
    """An answer to be rated."""

    name: str
    question: str
    sentences: tuple[CitedSentence, ...]


class Pack(Frozen):
    """Answers in the order in which they were shuffled."""

    format: Literal["ovrag-policy-ratings-2"] = "ovrag-policy-ratings-2"
    items: tuple[RatedItem, ...]

    @property
    def digest(self) -> str:
        """The hash by which ratings name the pack."""
        return text_digest(self.model_dump_json())


class PackKey(Frozen):
    """Key of a pack: the query and the arm that each answer is of."""

    origins: dict[str, tuple[str, str]]


class Rating(Frozen, strict=True):
    """A rater's judgement of one answer. `g0` is yes where the answer holds a claim that is not borne out."""

    pack: str
    item: str
    rater: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[\w .-]+$")]
    g0: bool
    supported: Annotated[int, Field(ge=0)]
    claims: Annotated[int, Field(ge=1)]
    g2: Annotated[int, Field(ge=0, le=2)]
    u1: Annotated[int, Field(ge=1, le=5)]
    u2: Annotated[int, Field(ge=1, le=5)]
    note: str = ""

    @model_validator(mode="after")
    def _one_judgement(self) -> Self:
        if self.supported > self.claims:
            raise ValueError("more claims are supported than there are")
        if self.g0 != (self.supported < self.claims):
            raise ValueError("G0 says that a claim is not borne out exactly where G1 counts one that is not")
        return self


class AgreementReport(NamedTuple):
    """Agreement by scale, and means by arm and scale over both raters, on the answers that both rated."""

    agreement: dict[str, Agreement]
    means: pandas.DataFrame


def make_pack(records: Iterable[PolicyRecord], seed: int) -> tuple[Pack, PackKey]:
    """Return a blind pack of the answers that say something, and its key. Raises ResultError where none does."""
    # Sorted first: the order of the pack must not depend on the order in which arms were run.
    answers = sorted(
        (record for record in records if not record.silent), key=lambda record: (record.query_id, record.arm)
    )
    if not answers:
        raise ResultError("no answer says anything, so there is nothing to rate; take a run with answers")
    random.Random(seed).shuffle(answers)
    named = {f"a{number:03}": record for number, record in enumerate(answers, 1)}
    items = (RatedItem(name=name, question=r.question, sentences=r.sentences) for name, r in named.items())
    origins = {name: (record.query_id, record.arm) for name, record in named.items()}
    return Pack(items=tuple(items)), PackKey(origins=origins)


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


def read_key(folder: Path, pack: Pack) -> PackKey:
    """Return the key of a pack. Raises ResultError where there is none, or that of another pack."""
    path = folder / KEY
    key = parse(read_text(path, ResultError, REMEDY), PackKey, str(path), ResultError, REMEDY)
    if set(key.origins) != {item.name for item in pack.items}:
        raise ResultError(f"{path} is the key of another pack; {REMEDY}")
    return key


def ratings_path(folder: Path, rater: str) -> Path:
    """Return where the ratings of a rater are."""
    return folder / f"ratings_{text_hash(rater)}.jsonl"


def add_rating(folder: Path, rating: Rating) -> None:
    """Add a rating at the end of its rater's file; of several of one answer the last counts."""
    with ratings_path(folder, rating.rater).open("a", encoding="utf-8") as file:
        file.write(rating.model_dump_json() + "\n")


def read_ratings(folder: Path, pack: Pack) -> dict[str, dict[str, Rating]]:
    """Return the ratings of a pack by rater and answer.

    Raises ResultError, with file and line, where a rating does not have its form, or is of another pack.
    """
    names = {item.name for item in pack.items}
    ratings: dict[str, dict[str, Rating]] = {}
    for path in sorted(folder.glob("ratings_*.jsonl")):
        for number, rating in read_records(path, Rating, ResultError, "move the file away"):
            if rating.pack != pack.digest or rating.item not in names:
                raise ResultError(f"{path}, line {number}: rates an answer of another pack; move the file away")
            ratings.setdefault(rating.rater, {})[rating.item] = rating
    return ratings


def order_for(rater: str, pack: Pack) -> list[RatedItem]:
    """Return the answers in an order of the rater's own, always the same."""
    return sorted(pack.items, key=lambda item: text_digest(f"{pack.digest} {rater} {item.name}"))


def compare_raters(
    first: Mapping[str, Rating], second: Mapping[str, Rating], key: PackKey, plan: Resampling
) -> AgreementReport:
    """Compare two raters on the answers that both rated.

    Kappa of G0 and of U1 in three bins, as published, with PABAK; weighted kappa (quadratic) of G2, U1 and U2; of G1
    the share of claims in five steps, weighted. Raises ResultError where they rated no answer in common.
    """
    both = sorted(set(first) & set(second))
    if not both:
        raise ResultError("the two raters have no answer in common; let both rate the same pack")
    first_frame, second_frame = (_frame([ratings[name] for name in both]) for ratings in (first, second))
    scales: dict[str, Sequence[object]] = {
        "G0": (0, 1),
        "G1": range(5),
        "G2": range(3),
        "U1 binned": ("low", "middle", "high"),
        "U1": range(1, 6),
        "U2": range(1, 6),
    }
    agreed = {
        scale: agreement(
            first_frame[scale].tolist(),
            second_frame[scale].tolist(),
            list(categories),
            plan,
            weights="none" if scale in ("G0", "U1 binned") else "quadratic",
        )
        for scale, categories in scales.items()
    }
    rated = pandas.concat([first_frame, second_frame]).assign(G1=lambda frame: frame["supported"])
    arms = [key.origins[name][1] for name in rated.index]
    return AgreementReport(agreed, rated.groupby(arms)[list(SCALES)].mean())


def read_report(folder: Path, plan: Resampling) -> AgreementReport | None:
    """Compare the first two raters of a folder; None until two have rated. Raises ResultError as the readers do."""
    pack = read_pack(folder)
    raters = list(read_ratings(folder, pack).values())
    return compare_raters(raters[0], raters[1], read_key(folder, pack), plan) if len(raters) > 1 else None


def _frame(ratings: Sequence[Rating]) -> pandas.DataFrame:
    """Return the scales of ratings as columns, by answer; G1 is in five steps, `supported` a share."""
    frame = pandas.DataFrame([rating.model_dump() for rating in ratings]).set_index("item").rename(columns=str.upper)
    shares = frame["SUPPORTED"] / frame["CLAIMS"]
    binned = {"U1 binned": frame["U1"].map(BINS)}
    return frame.assign(G0=frame["G0"].astype(int), G1=(4 * shares).round().astype(int), supported=shares, **binned)
