"""Answers rated by two people who do not know which arm gave them, and how far the two agree.

A pack holds the answers in a shuffled order, under names that say nothing; its key, a file of its own, tells arm and
query. A rating belongs to one pack, which it names by its hash. The scales are those of Policy Copilot: G0 a claim that
the quotations do not bear out (yes or no), G1 supported claims of all claims, G2 citations 0 to 2, U1 clarity and U2
actionability 1 to 5.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ovrag_core.base.errors import ResultError
from ovrag_core.evaluation.agreement import Agreement, agreement
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.corpus.policies import PolicyCorpus

FORMAT = "ovrag-policy-ratings-1"
PACK, KEY = "pack.json", "key.json"
BINS = {1: "low", 2: "low", 3: "middle", 4: "high", 5: "high"}
SCALES: Mapping[str, str] = {
    "G0": "Does the answer hold a claim that its quotations do not bear out?",
    "G1": "Of the claims of the answer, how many do the quotations bear out?",
    "G2": "Citations: 0 wrong or missing, 1 in part, 2 each at the right place",
    "U1": "Clarity, from 1 (unintelligible) to 5 (clear at the first reading)",
    "U2": "Actionability, from 1 (of no use) to 5 (I know what to do)",
}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Quotation(_Frozen):
    """What an answer quotes, and from which paragraph."""

    doc_id: str
    paragraph_id: str
    quote: str


class RatedClaim(_Frozen):
    """A sentence of an answer with its quotations."""

    text: str
    quotations: list[Quotation]


class RatedItem(_Frozen):
    """An answer to be rated."""

    name: str
    question: str
    sentences: list[RatedClaim]


class Pack(_Frozen):
    """Answers in the order in which they were shuffled."""

    format: Annotated[str, Field(pattern=f"^{FORMAT}$")] = FORMAT
    items: list[RatedItem]

    @property
    def digest(self) -> str:
        """The hash by which ratings name the pack."""
        return hashlib.sha256(self.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()


class Origin(_Frozen):
    """Which query an answer is to, and which arm gave it."""

    query_id: str
    arm: str


class Rating(_Frozen):
    """What one rater says of one answer. `g0` is yes where the answer holds a claim that is not borne out."""

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


class Given(NamedTuple):
    """An answer as an arm gave it."""

    query_id: str
    arm: str
    question: str
    sentences: tuple[RatedClaim, ...]


class Report(NamedTuple):
    """Agreement by scale, and means by arm and scale over both raters, on the answers that both rated."""

    items: int
    agreement: dict[str, Agreement]
    means: dict[str, dict[str, float]]


def make_pack(given: Iterable[Given], corpus: PolicyCorpus, seed: int) -> tuple[Pack, dict[str, Origin]]:
    """A blind pack of the answers that say something, and its key.

    Raises ResultError where no answer says anything, or one quotes paragraphs that the corpus lacks, which are listed.
    """
    said = [each for each in given if each.sentences]
    if not said:
        raise ResultError("no answer says anything, so there is nothing to rate; take a run with answers")
    check_paragraphs((claim for each in said for claim in each.sentences), corpus)
    # Sorted first: the order of the pack must not depend on the order in which arms were run.
    ordered = sorted(said, key=lambda each: (each.query_id, each.arm))
    random.Random(seed).shuffle(ordered)
    items, key = [], {}
    for number, each in enumerate(ordered, start=1):
        name = f"a{number:03}"
        items.append(RatedItem(name=name, question=each.question, sentences=list(each.sentences)))
        key[name] = Origin(query_id=each.query_id, arm=each.arm)
    return Pack(items=items), key


def check_paragraphs(claims: Iterable[RatedClaim], corpus: PolicyCorpus) -> None:
    """Raises ResultError, with the list, where quotations name paragraphs that the corpus lacks or say otherwise."""
    known = corpus.by_id()
    unknown = {
        quotation.paragraph_id
        for claim in claims
        for quotation in claim.quotations
        if quotation.paragraph_id not in known or quotation.quote not in known[quotation.paragraph_id].text
    }
    if unknown:
        listed = ", ".join(one_line(name, 120) for name in sorted(unknown))
        raise ResultError(f"the corpus lacks what the answers quote; index it anew and answer again: {listed}")


def write_pack(folder: Path, pack: Pack, key: Mapping[str, Origin]) -> None:
    """The pack and, for after the rating, its key. Raises ResultError where the folder holds something."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ResultError(f"{folder} is not empty; name a folder for the rating pack that is")
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / PACK, pack.model_dump())
    _write(folder / KEY, {name: origin.model_dump() for name, origin in key.items()})


def read_pack(folder: Path) -> Pack:
    """The pack of a folder. Raises ResultError where there is none, or none of this form."""
    try:
        return Pack.model_validate_json((folder / PACK).read_bytes())
    except OSError:
        raise ResultError(f"{folder / PACK} cannot be read; make a rating pack first") from None
    except ValidationError as error:
        raise ResultError(f"{folder / PACK}: {_said(error)}; make the pack anew") from None


def read_key(folder: Path, pack: Pack) -> dict[str, Origin]:
    """Which arm gave which answer. Raises ResultError where the key is not that of the pack."""
    try:
        read = json.loads((folder / KEY).read_bytes())
        key = {name: Origin.model_validate(origin) for name, origin in read.items()}
    except OSError:
        raise ResultError(f"{folder / KEY} cannot be read; the arms stay unknown without it") from None
    except (ValueError, AttributeError):
        raise ResultError(f"{folder / KEY} is no key of a rating pack; make the pack anew") from None
    if set(key) != {item.name for item in pack.items}:
        raise ResultError(f"{folder / KEY} is the key of another pack; make the pack anew")
    return key


def ratings_path(folder: Path, rater: str) -> Path:
    """Where the ratings of a rater are."""
    return folder / f"ratings_{hashlib.sha256(rater.encode()).hexdigest()[:12]}.jsonl"


def add_rating(folder: Path, rating: Rating) -> None:
    """Add a rating at the end of its rater's file; of several of one answer the last counts."""
    with ratings_path(folder, rating.rater).open("a", encoding="utf-8") as file:
        file.write(rating.model_dump_json() + "\n")


def read_ratings(folder: Path, pack: Pack) -> dict[str, dict[str, Rating]]:
    """Ratings by rater and answer.

    Raises ResultError, with file and line, where a rating does not have its form, belongs to another pack or is of an
    answer that the pack lacks.
    """
    names = {item.name for item in pack.items}
    found: dict[str, dict[str, Rating]] = {}
    for path in sorted(folder.glob("ratings_*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                rating = Rating.model_validate_json(line)
            except ValidationError as error:
                raise ResultError(f"{path}, line {number}: {_said(error)}") from None
            if rating.pack != pack.digest or rating.item not in names:
                raise ResultError(f"{path}, line {number}: rates an answer of another pack; move the file away")
            found.setdefault(rating.rater, {})[rating.item] = rating
    return found


def order_for(rater: str, pack: Pack) -> list[RatedItem]:
    """The answers in an order of the rater's own, always the same, so that the last ones tire nobody twice."""
    return sorted(pack.items, key=lambda item: hashlib.sha256(f"{pack.digest} {rater} {item.name}".encode()).digest())


def pair_of_raters(
    ratings: Mapping[str, Mapping[str, Rating]], names: Sequence[str]
) -> tuple[Mapping[str, Rating], Mapping[str, Rating]]:
    """The ratings of two raters: those of the names, or the only two.

    Raises ResultError, with who has rated, where that leaves other than two.
    """
    chosen = list(dict.fromkeys(names)) or sorted(ratings)
    if len(chosen) != 2 or set(chosen) - set(ratings):
        listed = ", ".join(sorted(ratings)) or "nobody"
        raise ResultError(f"agreement is of two raters, and {listed} rated this pack; name two with --rater")
    return ratings[chosen[0]], ratings[chosen[1]]


def compare(
    first: Mapping[str, Rating], second: Mapping[str, Rating], key: Mapping[str, Origin], plan: Resampling
) -> Report:
    """Two raters on the answers that both rated.

    Kappa of G0 and of U1 in three bins, as published, with PABAK; weighted kappa (quadratic) of G2, U1 and U2; of G1
    the share of claims in five steps, weighted. Raises ResultError where they rated no answer in common.
    """
    both = sorted(set(first) & set(second))
    if not both:
        raise ResultError("the two raters have no answer in common; let both rate the same pack")
    one, other = [first[name] for name in both], [second[name] for name in both]

    def weighted(scale: str, categories: Sequence[int]) -> Agreement:
        return agreement(
            [_score(rating, scale) for rating in one],
            [_score(rating, scale) for rating in other],
            categories,
            plan,
            weights="quadratic",
        )

    agreed = {
        "G0": agreement([each.g0 for each in one], [each.g0 for each in other], [False, True], plan),
        "G1": weighted("g1", range(5)),
        "G2": weighted("g2", range(3)),
        "U1 binned": agreement(
            [BINS[each.u1] for each in one], [BINS[each.u1] for each in other], ["low", "middle", "high"], plan
        ),
        "U1": weighted("u1", range(1, 6)),
        "U2": weighted("u2", range(1, 6)),
    }
    return Report(len(both), agreed, _means([*one, *other], key))


def _score(rating: Rating, scale: str) -> int:
    return round(4 * rating.supported / rating.claims) if scale == "g1" else int(getattr(rating, scale))


def _means(ratings: Sequence[Rating], key: Mapping[str, Origin]) -> dict[str, dict[str, float]]:
    by_arm: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_arm.setdefault(key[rating.item].arm, []).append(rating)
    return {
        arm: {
            "answers": float(len({rating.item for rating in given})),
            "G0": fmean(rating.g0 for rating in given),
            "G1": fmean(rating.supported / rating.claims for rating in given),
            "G2": fmean(rating.g2 for rating in given),
            "U1": fmean(rating.u1 for rating in given),
            "U2": fmean(rating.u2 for rating in given),
        }
        for arm, given in sorted(by_arm.items())
    }


def _write(path: Path, values: object) -> None:
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def _said(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {one_line(first['msg'])}" if where else one_line(first["msg"])
