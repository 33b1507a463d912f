"""What the dissertation's runs recorded: its figures computed anew, and what they are once citations are read right.

The published pipeline split a reply at its full stops and so gave a citation that stands behind one to the sentence
after it. The first sentence of an answer was left without, and the answer was refused. Replies as such were not kept;
they are rebuilt from the claims, where each citation is still found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ovrag_core.base.errors import RunError
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.answering.citations import read_citations
from ovrag_studies.cited.corpus.policies import PolicyCorpus

T = TypeVar("T", bound=BaseModel)
Category = Literal["answerable", "unanswerable", "contradiction"]

TOP = 5
LEAST_OVERLAP = 0.10  # Jaccard of content words from which the published rule calls a sentence supported
LEAST_SUPPORT = 0.80  # share of supported sentences below which the published pipeline is silent
SILENT = "INSUFFICIENT_EVIDENCE"

_APPENDED = re.compile(r"\s*Note: some evidence sources may conflict on this point.*$", re.S)
_BEFORE_STOP = re.compile(r"\s+([.!?])$")  # the blank that a citation left which stood before the full stop
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Function words in the manner of the rule that was recorded: "not" and "no" are among them.
_FUNCTION_WORDS_TEXT = """a about above after again against all also am an and any are as at be been being below between
both but by can could did do does doing down during each few for from further had has have having he her here hers him
his how i in into is it its just may me might more most must my no nor not of off on once only or other our ours out
over own same shall she should so some such than that the their theirs them then there these they this those through to
too until up very was we were what who whom why with would you your yours"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())


@dataclass(frozen=True, slots=True)
class RecordedClaim:
    """A sentence of an answer as it was checked; `ids` are those that it was taken to cite."""

    text: str
    ids: tuple[str, ...]
    supported: bool


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One line of a run. `evidence` is by id, best first; without texts where a run kept only ids.

    `claims` is empty where nothing was checked. `seconds` is None where the model was not asked.
    """

    query_id: str
    question: str
    category: Category
    gold: tuple[str, ...]
    answer: str
    silent: bool
    cited: tuple[str, ...]
    evidence: dict[str, str]
    claims: tuple[RecordedClaim, ...]
    conflicts: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run with its published figures; None where it says that a figure is not defined.

    `requested` and `used` are the ways to retrieve; `model` is empty where none was asked.
    """

    name: str
    arm: str
    requested: str
    used: str
    model: str
    answers: tuple[RecordedAnswer, ...]
    published: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Label:
    """What a version of the golden set says of a query."""

    category: Category
    gold: tuple[str, ...]


def _listed(value: object) -> object:
    return [name for name in value.split(",") if name.strip() and "::" in name] if isinstance(value, str) else value


_Ids = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class _RecordedPart(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Evidence(_RecordedPart):
    paragraph_id: str
    text: str = ""


class _ClaimRecord(_RecordedPart):
    text: str
    citations: tuple[str, ...]
    supported: bool


class _ClaimsRecord(_RecordedPart):
    claims: tuple[_ClaimRecord, ...] = ()


class _AnswerRecord(_RecordedPart):
    query_id: str
    question: str
    category: Category
    gold_paragraph_ids: _Ids
    answer: str
    is_abstained: bool
    citations: tuple[str, ...]
    retrieved_paragraph_ids: tuple[str, ...] = ()
    evidence: tuple[_Evidence, ...] = ()
    claim_verification: _ClaimsRecord | None = None
    contradictions: list[object] | None = None
    latency_ms: float | dict[str, float] = 0.0

    def read(self) -> RecordedAnswer:
        spent = sum(self.latency_ms.values()) if isinstance(self.latency_ms, dict) else self.latency_ms
        return RecordedAnswer(
            self.query_id,
            self.question,
            self.category,
            self.gold_paragraph_ids,
            self.answer,
            self.is_abstained,
            self.citations,
            {each.paragraph_id: each.text for each in self.evidence} or dict.fromkeys(self.retrieved_paragraph_ids, ""),
            tuple(
                RecordedClaim(each.text, each.citations, each.supported)
                for each in (self.claim_verification.claims if self.claim_verification else ())
            ),
            len(self.contradictions or ()),
            spent / 1000 or None,
        )


class _Config(_RecordedPart):
    baseline: str
    backend_requested: str
    backend_used: str
    model: str
    enable_llm: bool


class _Summary(_RecordedPart):
    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, float | str] = Field(init=False)


def read_run(folder: Path) -> RecordedRun:
    """The run in a folder of outputs, summary and configuration. Raises RunError naming file, line and field."""
    config = _read(folder / "run_config.json", _Config)
    summary = _read(folder / "summary.json", _Summary).__pydantic_extra__
    file = folder / "outputs.jsonl"
    answers = [_parsed(line, _AnswerRecord, f"{file}, line {number}").read() for number, line in _lines(file)]
    again = {each.query_id for each in answers if sum(each.query_id == other.query_id for other in answers) > 1}
    if again:
        raise RunError(f"{file} answers {min(again)} more than once; keep one of the lines")
    return RecordedRun(
        folder.name,
        config.baseline,
        config.backend_requested,
        config.backend_used,
        config.model if config.enable_llm else "",
        tuple(answers),
        {key: value if isinstance(value, float) else None for key, value in _figures(summary).items()},
    )


def _figures(summary: Mapping[str, float | str]) -> dict[str, float | str]:
    plain = {key: value for key, value in summary.items() if key != "baseline"}
    return {key: value if isinstance(value, str) else float(value) for key, value in plain.items()}


def _read(file: Path, form: type[T]) -> T:
    return _parsed("".join(line for _, line in _lines(file)), form, str(file))


def _lines(file: Path) -> list[tuple[int, str]]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise RunError(
            f"{file} cannot be read; a recorded run is outputs.jsonl, summary.json, run_config.json"
        ) from None
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _parsed(text: str, form: type[T], where: str) -> T:
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise RunError(f"{where}: {field}: {one_line(first['msg'])}") from None


def require_known(run: RecordedRun, corpus: PolicyCorpus) -> None:
    """Raises RunError, with the list, where a run names paragraphs that the corpus does not have, or other texts."""
    known = corpus.by_id()
    unknown = sorted(
        {
            name
            for each in run.answers
            for name in (*each.evidence, *each.cited, *each.gold)
            if name not in known or (each.evidence.get(name) and each.evidence[name] != known[name].text)
        }
    )
    if unknown:
        raise RunError(
            f"{run.name}: {len(unknown)} paragraphs are not in the corpus as they were; index it anew, or use the "
            f"run's own: {', '.join(one_line(name, 120) for name in unknown)}"
        )


def summarise(run: RecordedRun, labels: Mapping[str, Label] | None = None) -> dict[str, float | None]:
    """The published measures of a run by their published names; `labels` of another golden set replace the run's own.

    Ranking counts queries with gold paragraphs, citations count answered answerable queries. None is not defined.
    """
    given = [_relabelled(each, labels) for each in run.answers]
    answerable = [each for each in given if each.category == "answerable"]
    probes = [each for each in given if each.category == "contradiction"]
    answered = [each for each in answerable if not each.silent]
    with_gold = [each for each in given if each.gold]
    flagged = [each for each in given if each.conflicts]
    result = {
        "total_queries": float(len(given)),
        "answer_rate": _share(not each.silent for each in answerable),
        "abstention_accuracy": _share(each.silent for each in given if each.category == "unanswerable"),
        "evidence_recall_at_5": _mean(_hits(each) / len(each.gold) for each in with_gold),
        "evidence_precision_at_5": _mean(_hits(each) / TOP for each in with_gold),
        "evidence_mrr": _mean(_reciprocal_rank(each) for each in with_gold),
        "citation_precision": _mean(_part(each.cited, each.evidence) for each in answered),
        "citation_recall": _mean(_part(each.gold, each.cited) for each in answered),
        "contradiction_recall": _share(bool(each.conflicts) for each in probes),
        "contradiction_precision": _share(each.category == "contradiction" for each in flagged) if flagged else None,
    }
    checked = [each for each in given if each.claims and not each.silent]
    if checked:
        claims = [claim for each in checked for claim in each.claims]
        result["ungrounded_rate"] = _share(not claim.supported for claim in claims)
        result["support_rate_mean"] = _mean(support_rate(each.claims) for each in checked)
    return result


def _relabelled(answer: RecordedAnswer, labels: Mapping[str, Label] | None) -> RecordedAnswer:
    if labels is None:
        return answer
    if answer.query_id not in labels:
        raise RunError(
            f"the golden set has no query {one_line(answer.query_id, 80)}; give the one that the run was made for"
        )
    label = labels[answer.query_id]
    return replace(answer, category=label.category, gold=label.gold)


def _hits(answer: RecordedAnswer) -> int:
    return len(set(answer.gold) & set(list(answer.evidence)[:TOP]))


def _reciprocal_rank(answer: RecordedAnswer) -> float:
    ranks = (rank for rank, name in enumerate(list(answer.evidence)[:TOP], 1) if name in answer.gold)
    return 1 / next(ranks, float("inf"))


def _part(of: Iterable[str], within: Iterable[str]) -> float:
    wanted = set(of)
    return len(wanted & set(within)) / len(wanted) if wanted else 0.0


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _share(values: Iterable[bool]) -> float:
    return _mean(float(each) for each in values)


def support_rate(claims: Sequence[RecordedClaim]) -> float:
    """The share of claims that were called supported."""
    return _share(each.supported for each in claims)


def published_support(sentence: str, cited: Sequence[str]) -> bool:
    """The published check: a tenth of the content words shared with all cited texts together, or any one number.

    Its exact words are not known; with those of this module 210 of 212 recorded claims are judged as recorded.
    """
    evidence = " ".join(cited)
    if not evidence:
        return False
    words, others = _content(sentence), _content(evidence)
    overlap = len(words & others) / len(words | others) if words | others else 0.0
    return overlap >= LEAST_OVERLAP or bool(set(_NUMBER.findall(sentence)) & set(_NUMBER.findall(evidence)))


def _content(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _FUNCTION_WORDS


def rebuilt_reply(claims: Sequence[RecordedClaim]) -> str:
    """A reply as the model gave it, from its claims: citations stand before the claims that they were moved to.

    Of the citations of the last claim the last one is its own. A claim that ends in a blank and a full stop had its
    citations before that.
    """
    parts = []
    for row, claim in enumerate(claims):
        marks = [f"[CITATION: {name}]" for name in claim.ids]
        if stop := _BEFORE_STOP.search(claim.text):
            parts.append(" ".join([claim.text[: stop.start()], *marks]) + stop[1])
        elif row + 1 == len(claims):
            parts.append(" ".join([*marks[:-1], claim.text, *marks[-1:]]))
        else:
            parts.append(" ".join([*marks, claim.text]))
    return " ".join(parts)


def reply_of(answer: RecordedAnswer) -> str:
    """The model's reply: as recorded where an answer was given, else rebuilt; empty where no claim was kept."""
    if not answer.silent and "[CITATION:" in answer.answer:
        return _APPENDED.sub("", answer.answer)
    return rebuilt_reply(answer.claims)


def corrected(run: RecordedRun) -> RecordedRun:
    """The run with its citations read right and the published rules otherwise: what is checked, refused and cited.

    An answer whose claims were not kept stays as it was.
    """
    return replace(run, answers=tuple(_corrected(each) for each in run.answers))


def _corrected(answer: RecordedAnswer) -> RecordedAnswer:
    if not answer.claims:
        return answer
    claims = tuple(
        RecordedClaim(
            each.text, each.ids, published_support(each.text, [answer.evidence.get(name, "") for name in each.ids])
        )
        for each in read_citations(reply_of(answer), answer.evidence)
    )
    if support_rate(claims) < LEAST_SUPPORT:
        return replace(answer, answer=SILENT, silent=True, cited=(), claims=claims)
    kept = tuple(each for each in claims if each.supported)
    cited = tuple(dict.fromkeys(name for each in kept for name in each.ids))
    return replace(answer, answer=" ".join(each.text for each in kept), silent=False, cited=cited, claims=kept)
