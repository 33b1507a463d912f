"""What the program makes of texts, kept and compared, to check that a restructuring leaves results as they are.

`freeze.py --save` records a baseline, `freeze.py --compare` names what differs from it: committed results and records
of runs by their SHA-256, language functions by what they return for the texts of tests/data and data/samples, commands
by what they print. `--show LABEL` prints the first value that differs. Exit code 1: something differs.

A function that moves keeps its label, which is its first place. `places` maps folders; add to MOVED what moves or is
renamed otherwise. A function that exists once under its name in the packages is found without that.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import gzip
import hashlib
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from enum import Enum
from functools import cache
from itertools import pairwise, takewhile, zip_longest
from pathlib import Path
from typing import Any

import typer
import yaml

os.environ |= {"COLUMNS": "120", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))
PACKAGES = ("ovrag_core", "ovrag_studies")
EVERY = 4  # of the texts, with --quick
PER_FILE = 8  # paragraphs of a document, and 60 strings of another file, that functions on sentences are asked
ROOMS = {
    "extraction": "loans.reading",
    "lines numerals documents.passages documents.quotes": "text",
    "chunking": "documents",
    "answering identity checking reply": "loop",
    "review deal grounds conformed": "loans",
    "types settings": "base",
    "cli": "app",
}
STUDIES = {"epistemic": "abstention", "policy": "cited", "causal": "causal", "contract_review": "contract_review"}
MOVED: dict[str, list[str]] = {  # label -> further places, as "ovrag_core.text.date_reading:find_dates"
    "studies.causal.cladder_text:sentences": ["ovrag_studies.causal.cladder_text:sentences_of"],
    "studies.contract_review.chunkers:CHUNKERS": ["ovrag_studies.contract_review.texts.chunkers:CHUNKERS"],
    "studies.contract_review.expansion:ask": ["ovrag_studies.contract_review.retrieval.expansion:ask"],
    "studies.contract_review.learned:digest": ["ovrag_studies.contract_review.answering.learned:digest"],
    "studies.contract_review.nli:digest": ["ovrag_studies.contract_review.inference.nli:digest"],
    "studies.contract_review.nli_cues:CUES": ["ovrag_studies.contract_review.inference.nli_cues:CUES"],
    "studies.contract_review.nli_cues:plain": ["ovrag_studies.contract_review.inference.nli_cues:plain"],
}

# Functions of one argument, by what that is.
OF_DOCUMENT = """
extraction.reader:read extraction.parties:find_parties extraction.prepared:prepare extraction.amendments:identify
extraction.amended:agreement_named extraction.values:find_principals extraction.values:find_rates
extraction.values:find_maturities extraction.values:find_terms extraction.chat:windows_of studies.policy.paragraphs:cut
"""
OF_TEXT = """
documents.cleaning:clean documents.cleaning:tidy documents.cleaning:join_hyphenated documents.repair:repair
documents.passages:find_passages documents.sections:find_sections extraction.sentences:plain_text
extraction.sentences:ticked_only extraction.sentences:struck_out extraction.sentences:units
extraction.chat:without_orders extraction.gate:gate extraction.grids:facility_cells
extraction.prepared:addressed
extraction.purposes:find_home_use extraction.quantities:moneys extraction.quantities:percentages
extraction.quantities:dates extraction.quantities:amounts extraction.quantities:durations
extraction.sightings:deed_roles extraction.speakers:speaker_roles extraction.surroundings:passage_breaks
studies.contract_review.clauses:find_clauses
studies.contract_review.nli:digest studies.contract_review.learned:digest
studies.policy.amounts:find_amounts studies.policy.quantities:find_quantities studies.policy.critic_rules:by_rules
studies.policy.critic_rules:sentences_of studies.causal.rule_sentences:tokenise
studies.causal.cladder_text:sentences
"""
OF_PASSAGE = """
lines:one_line documents.sections:is_capitals answering:question_parts identity:plain_words retrieval.words:stems
extraction.names:plain_words extraction.names:find_cue extraction.names:described_kind extraction.quantities:moneys
extraction.quantities:percentages extraction.quantities:dates extraction.quantities:amounts
extraction.quantities:durations studies.policy.amounts:find_amounts studies.policy.amounts:without_amounts
studies.policy.polarity:find_cues studies.policy.quantities:find_quantities studies.policy.readings:read
studies.policy.deontic:find_actor studies.policy.deontic:find_condition
studies.policy.opposition:flags_of studies.policy.thesaurus:unite studies.policy.verification:parts_of
studies.policy.critic_rules:by_rules studies.policy.critic_rules:even
studies.policy.retrieval:heading_of studies.policy.perturbations:swap_must
studies.policy.perturbations:change_numbers
studies.causal.phrases:words studies.causal.phrases:content studies.causal.propositions:parse
studies.causal.propositions:read studies.causal.questions:split studies.causal.effect_questions:draws
studies.epistemic.words:words_of studies.epistemic.words:fold
studies.epistemic.passages:words studies.epistemic.replies:read_reply studies.contract_review.nli_cues:plain
studies.contract_review.scorers:word_set studies.contract_review.answers:is_abstention
studies.contract_review.expansion:ask
"""
OF_PHRASE = """
identity:plain_words extraction.details:bare_words extraction.names:plain_words extraction.names:could_be_person
extraction.names:party_kind extraction.names:built_kind extraction.names:given_names extraction.names:has_form
extraction.names:find_cue extraction.names:described_kind extraction.purposes:is_study
extraction.quantities:words_to_number extraction.quantities:parse_number extraction.sightings:singular
extraction.subjects:words_of extraction.subjects:is_generic extraction.subjects:bare_name
studies.policy.thesaurus:canonical studies.policy.thesaurus:concept studies.policy.thesaurus:unite
studies.policy.thesaurus:concepts
studies.causal.cues:may_relate studies.causal.directions:stages
studies.causal.directions:split studies.causal.directions:state_of studies.causal.directions:has_motion
studies.causal.directions:is_state studies.causal.phrases:words studies.causal.phrases:content
studies.causal.cladder_text:name
studies.epistemic.words:words_of studies.epistemic.words:fold studies.epistemic.words:number
studies.epistemic.words:verb_forms studies.epistemic.words:noun_forms studies.epistemic.likeness:bare
studies.contract_review.answers:is_abstention
"""
OF_PAIR = """
studies.policy.polarity:find_opposed studies.policy.quantities:find_missing studies.causal.phrases:likeness
studies.causal.phrases:word_likeness studies.causal.polarity:same_words
studies.causal.linking:opposed
extraction.amended:is_same_name
"""


class Missing(Exception):
    """Function that no place holds."""


def places(label: str) -> Iterator[str]:
    """Places where the function of a label may stand, as `module:name`."""
    module, _, name = label.partition(":")
    yield from MOVED.get(label, [])
    yield f"ovrag_core.{label}"
    for old, new in STUDIES.items():
        if module.startswith(f"studies.{old}."):
            yield f"ovrag_studies.{new}.{module.removeprefix(f'studies.{old}.')}:{name}"
    for heads, room in ROOMS.items():
        for head in heads.split():
            if module == head or module.startswith(head + "."):
                below = head.split(".")[-1] if head != "extraction" else ""
                rest = module.removeprefix(head).strip(".")
                yield f"ovrag_core.{'.'.join(filter(None, (room, below, rest)))}:{name}"
    pattern = re.compile(rf"^(?:def|class) {name}\b", re.MULTILINE)
    files = [path for package in PACKAGES for path in (PROJECT / package).rglob("*.py")]
    found = [path for path in files if pattern.search(path.read_text(encoding="utf-8"))]
    if len(found) == 1:
        yield f"{'.'.join(found[0].relative_to(PROJECT).with_suffix('').parts)}:{name}"


@cache
def of(label: str) -> Any:
    """The function, class or value of a label. Raises Missing."""
    for place in places(label):
        module, _, name = place.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (ModuleNotFoundError, AttributeError):
            continue
    raise Missing(label)


def plain(value: Any, depth: int = 0) -> Any:  # noqa: PLR0911 - a line a kind of value
    """A result as lists, texts and numbers: fields without the names of classes and fields, floats of 9 places."""
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return round(value, 9)
    if depth > 12:
        return "…"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [plain(getattr(value, each.name), depth + 1) for each in dataclasses.fields(value) if each.compare]
    if hasattr(type(value), "model_fields"):
        return [plain(getattr(value, name), depth + 1) for name in type(value).model_fields]
    if isinstance(value, Mapping):
        return [[plain(key, depth + 1), plain(each, depth + 1)] for key, each in value.items()]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(each, depth + 1) for each in value), key=repr)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), depth + 1)
    if isinstance(value, re.Match):
        return [list(value.span()), value.group()]
    if isinstance(value, Iterable):
        return [plain(each, depth + 1) for each in value]
    if type(value).__repr__ is object.__repr__:
        return [plain(each, depth + 1) for name, each in sorted(vars(value).items()) if not callable(each)]
    return re.sub(r"ovrag_\w+(?:\.\w+)*\.", "", str(value))


def strings_of(path: Path) -> list[str]:
    """The texts of a file of paragraphs, pairs or questions: every string with a space in it."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, None] = {}

    def gather(value: object) -> None:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                gather(each)
        elif isinstance(value, str) and " " in value and len(value) < 3000:
            found[value] = None

    if path.suffix == ".txt":
        gather([each.strip() for each in re.split(r"\n\s*\n", text)])
    elif path.suffix in (".tsv", ".csv"):
        gather(list(csv.reader(io.StringIO(text), "excel-tab" if path.suffix == ".tsv" else "excel")))
    elif path.suffix == ".jsonl":
        gather([json.loads(line) for line in text.splitlines()])
    else:
        gather(json.loads(text) if path.suffix == ".json" else yaml.safe_load(text))
    return spread(list(found), PER_FILE if path.suffix == ".txt" else 60)


def phrases_of(passages: Iterable[str]) -> list[str]:
    """Parts of sentences, names and numbers that stand in passages."""
    found: dict[str, None] = {}
    number = r"(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty|hundred|thousand|and)\b[ -]?)+"
    name = r"[A-Z][\w&.'’-]*(?: (?:of |and |the )?[A-Z][\w&.'’-]*)*"
    for text in passages:
        parts = re.split(r"[,;:.()“”\"\s]*(?:[,;:()“”\"]|\.\s|\.$|\b(?:because|so|if|and|which|when|that)\b)\s*", text)
        exact = re.findall(rf"{name}|\b{number}|[\d.,]*\d%?", text)
        found |= dict.fromkeys(each.strip() for each in [*spread(parts, 6), *spread(exact, 6)] if each.strip())
    return spread(list(found), 120)


def spread(items: list[Any], most: int) -> list[Any]:
    """At most so many of the items, evenly from beginning to end."""
    return [items[at * len(items) // most] for at in range(most)] if len(items) > most else items


class Texts:
    """What the functions are asked about; `step` takes every so manieth file."""

    def __init__(self, step: int, more: Path) -> None:
        folders = [PROJECT / "tests/data", PROJECT / "data/samples"]
        files = sorted(
            path for folder in folders for path in folder.rglob("*.*") if "contract_review/source" not in str(path)
        )
        named = {path.relative_to(PROJECT).as_posix(): path for path in files}
        contracts = spread(sorted((more / "data/contracts").glob("*.pdf")), 12)
        named |= {f"data/contracts/{path.name}": path for path in contracts}
        named = dict(list(named.items())[::step])
        suffixes = (".txt", ".pdf", ".docx", ".html")
        self.documents = {name: of("documents:load")(path) for name, path in named.items() if path.suffix in suffixes}
        kept = (".txt", ".tsv", ".csv", ".jsonl", ".json", ".yaml")
        self.passages = {name: strings_of(path) for name, path in named.items() if path.suffix in kept}
        self.deals = {
            path.name: [of("documents:load")(each) for each in sorted(path.glob("*.txt"))]
            for path in sorted((PROJECT / "tests/data/deals").iterdir())[::step]
            if path.is_dir()
        }

    def calls(self, kind: str) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
        """Name of a text, and the arguments of the calls that are made for it."""
        if kind == "document":
            yield from ((name, [(document,)]) for name, document in self.documents.items())
        elif kind == "text":
            yield from ((name, [(document.text,)]) for name, document in self.documents.items())
        elif kind == "deal":
            yield from ((name, [(documents,)]) for name, documents in self.deals.items())
        elif kind == "passage":
            yield from ((name, [(each,) for each in passages]) for name, passages in self.passages.items())
        elif kind == "phrase":
            yield from ((name, [(each,) for each in phrases_of(some)]) for name, some in self.passages.items())
        elif kind == "pair":
            yield from ((name, list(pairwise(passages))) for name, passages in self.passages.items())
        elif kind.startswith("few "):  # for what takes long: of few documents, and of every eighth text of the lists
            for name, calls in self.calls(kind.removeprefix("few ")):
                if not name.endswith(".txt") or sum(name.encode()) % 12 == 0:
                    yield name, calls[::8]
        elif kind == "causal":
            yield from (item for item in self.calls("passage") if "causal" in item[0])
        elif kind == "project":
            yield "samples", [()]
        else:
            raise ValueError(kind)


# --- functions that need more than one text


def with_units(function: Any, text: str) -> Any:
    """Of a text and its sentences."""
    return function(text, of("extraction.sentences:units")(text))


def with_terms(function: Any, text: str) -> Any:
    """Of a text and its defined terms."""
    return function(text, of("extraction.sightings:Terms")(text))


def in_corpus(function: Any) -> Any:
    """What a function makes of the sample corpus of policies."""
    return function(of("studies.policy.corpus:read_corpus")(PROJECT / "data/samples/policy/corpus"))


def clashes_of_pairs(function: Any) -> list[Any]:
    """Clashes between the norms of each two rules of tests/data/policy."""
    lines = (PROJECT / "training/cited/rule_pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    lines = spread(lines, 60)
    read, assemble = of("studies.policy.corpus:Read"), of("studies.policy.corpus:assemble")
    found = []
    for pair in (line.split("\t")[4:6] for line in lines):
        texts = [read(name, f"{name}.pdf", 1, 0, text) for name, text in zip("ab", pair, strict=True)]
        norms = of("studies.policy.deontic:read_norms")(assemble(texts, dict.fromkeys("ab", "0" * 64)))
        found.append([norms, function(norms)])
    return found


@cache
def causal_graph() -> Any:
    """The sample graph of causes."""
    return of("graph.loading:load_graph")(PROJECT / "data/samples/causal/graph.ttl")


@cache
def causal_lexicon() -> Any:
    """Names of things of that graph."""
    return of("studies.causal.linking:Lexicon").of_graph(causal_graph())


@cache
def verifier(of_class: Any) -> Any:
    """Verifier against that graph."""
    return of_class(causal_graph())


def claims_in(function: Any, text: str) -> list[Any]:
    """Claims of the propositions in a text."""
    lexicon = causal_lexicon()
    parts = of("studies.causal.propositions:parse")(text, lexicon.compounds)
    return [function(part, lexicon) for part in parts if hasattr(part, "relation")]


def solved(function: Any) -> list[Any]:
    """Solutions of the sample questions."""
    read = of("studies.causal.questions:read_questions")
    files = [PROJECT / "data/samples/causal" / name for name in ("questions.jsonl", "cladder.jsonl")]
    return [each if isinstance(each, str) else function(each) for file in files for each in read(file)]


@cache
def domain(name: str, facts: str) -> tuple[Any, Any, Any]:
    """A store, its domain and the names of its things."""
    known = of("studies.epistemic.domain:load_domain")(PROJECT / f"ontologies/domains/{name}.yaml")
    store = of("studies.epistemic.graphs:open_with_domain")(PROJECT / f"data/samples/epistemic/{facts}", known)
    return store, known, of("studies.epistemic.names:names_of")(store, known)


def wordings() -> Iterator[tuple[str, Any, Any, Any]]:
    """Questions of the wordings of tests/data, filled with things of the graph, and the graph."""
    for name, facts in (("river", "hasMouth_facts.tsv"), ("loan", "loans_facts.tsv")):
        lines = (PROJECT / f"tests/data/epistemic/{name}_wordings.tsv").read_text(encoding="utf-8").splitlines()[1:]
        rows = (PROJECT / f"data/samples/epistemic/{facts}").read_text(encoding="utf-8").splitlines()[1:]
        told = [row.split("\t") for row in rows]
        for at, line in enumerate(spread(lines, 240)):
            first, second = told[at * 7 % len(told)], told[at * 11 % len(told)]
            object_ = (first if at % 2 else second)[3 if name == "river" else 4]
            wording = line.split("\t")[2].replace("{subject}", first[1]).replace("{object}", object_)
            yield (wording, *domain(f"{name}s", facts))


def asked(function: Any) -> list[Any]:
    """Records of the answers to the wordings."""
    as_record = of("studies.epistemic.asking:as_record")
    return [as_record(function(question, store, known, names)) for question, store, known, names in wordings()]


def claims_asked(function: Any) -> list[Any]:
    """Readings of the wordings."""
    return [function(question, names, known) for question, _, known, names in wordings()]


def chunked(function: Any, document: Any) -> list[Any]:
    """Chunks of a document by each chunker."""
    return [function(document, name) for name in of("studies.contract_review.chunkers:CHUNKERS")]


def conformed(function: Any, documents: list[Any]) -> Any:
    """Of the copy of an agreement and the last of its amendments."""
    return function(of("conformed:ConformedCopy").of(documents[0]), documents[-1])


def located(function: Any, text: str) -> list[Any]:
    """Places of quotes that are set otherwise than the text, and of one with a word left out."""
    quotes = spread([part for part in text.split("\n\n") if len(part) > 40], 12)
    even = [" ".join(quote.split()) for quote in quotes]
    return [function(quote, text) for each in even for quote in (each, f"“{each[4:90]}…”", each.replace(" the ", " "))]


def hits_of_cues(function: Any, text: str) -> list[Any]:
    """Cues of each hypothesis in a text."""
    even = of("studies.contract_review.nli_cues:plain")(text)
    return [function(hypothesis, even) for hypothesis in of("studies.contract_review.nli_cues:CUES")]


def claims_found(function: Any, text: str) -> Any:
    """Of a text, its sentences and the lexicon."""
    return function(text, of("extraction.sentences:units")(text), of("extraction.lexicon:load_lexicon")())


SPECIAL: dict[str, tuple[str, Callable[..., Any]]] = {
    "documents:load": ("document", lambda function, document: document),
    "extraction.claims:find_claims": ("few text", claims_found),
    "extraction.facilities:find_facilities": ("text", with_units),
    "extraction.purposes:find_purpose": ("text", with_units),
    "extraction.letters:letter_parties": ("text", with_terms),
    "extraction.letters:own_hand": ("text", with_terms),
    "extraction.letters:headed_firms": ("text", with_terms),
    "extraction.letters:closing_names": ("text", with_terms),
    "extraction.signatures:signed_columns": ("text", with_terms),
    "extraction.signatures:signing_parties": ("text", with_terms),
    "extraction.signatures:signed_captions": ("text", with_terms),
    "extraction.roles:candidates": ("text", with_terms),
    "extraction.names:name_at": ("passage", lambda function, text: function(text, 0)),
    "extraction.reader:read_passage": ("few passage", lambda function, text: function(text, document_id="given")),
    "extraction.amendments:in_order": ("deal", lambda function, documents: function(documents)),
    "extraction.amended:misfit": ("deal", lambda function, documents: function(documents[-1], documents[:-1])),
    "extraction.amendments:amend": ("deal", conformed),
    "chunking:recursive": ("text", lambda function, text: function(text, 512, 64)),
    "chunking:fixed": ("text", lambda function, text: function(text, 512, 64)),
    "chunking:paragraph": ("text", lambda function, text: function(text, 512, 64)),
    "studies.contract_review.chunkers:chunk": ("document", chunked),
    "studies.contract_review.features:find_shorts": (
        "text",
        lambda function, text: function(text, list(of("documents.passages:find_passages")(text))),
    ),
    "documents.quotes:locate": ("text", located),
    "extraction.details:find_details": ("few text", lambda function, text: function(text)),
    "studies.causal.polarity:compare": ("few pair", lambda function, *pair: function(*pair)),
    "studies.contract_review.nli_cues:cue_hits": ("few passage", hits_of_cues),
    "studies.policy.corpus:read_corpus": ("project", lambda function: in_corpus(lambda corpus: corpus)),
    "studies.policy.deontic:read_norms": ("project", in_corpus),
    "studies.policy.precedence:find_precedence": ("project", in_corpus),
    "studies.policy.conflicts:find_clashes": ("project", clashes_of_pairs),
    "studies.policy.verification:Verifier": ("few pair", lambda class_, one, other: class_().supports(one, [other])),
    "studies.causal.linking:link": ("few causal", lambda function, text: function(text, causal_lexicon())),
    "studies.causal.linking:claim": ("causal", claims_in),
    "studies.causal.verifier:Verifier": ("causal", lambda class_, text: verifier(class_).check(text)),
    "studies.causal.questions:solve": ("project", solved),
    "studies.epistemic.claims:read_claim": ("project", claims_asked),
    "studies.epistemic.asking:ask": ("project", asked),
    "studies.epistemic.passages:verbalise": (
        "project",
        lambda function: function(*domain("rivers", "hasMouth_facts.tsv")[:2]),
    ),
}


def tasks() -> dict[str, tuple[str, str, Callable[..., Any]]]:
    """Label of each task -> the label of its function, the kind of its texts, and how the function is called."""
    found: dict[str, tuple[str, str, Callable[..., Any]]] = {}
    for kind, labels in (
        ("document", OF_DOCUMENT),
        ("text", OF_TEXT),
        ("passage", OF_PASSAGE),
        ("phrase", OF_PHRASE),
        ("pair", OF_PAIR),
    ):
        for label in labels.split():
            found[f"{label} of {kind}s"] = (label, kind, lambda function, *items: function(*items))
    for label, (kind, call) in SPECIAL.items():
        found[f"{label} of {kind}s"] = (label, kind, call)
    return found


def results_of(task: tuple[str, str, Callable[..., Any]], texts: Texts) -> dict[str, list[str]]:
    """What a function makes of each text, a list of JSON for each. Raises Missing."""
    label, kind, call = task
    function = of(label)
    found: dict[str, list[str]] = {}
    for name, calls in texts.calls(kind):
        values: list[Any] = []
        for items in calls:
            try:
                values.append(plain(call(function, *items)))
            except Missing:
                raise
            except Exception as error:  # a refusal is a result too
                values.append(f"{type(error).__name__}: {error}")
        if not kind.endswith(("passage", "pair", "phrase", "causal")) and values and isinstance(values[0], list):
            values = values[0]
        found[name] = [json.dumps(value, ensure_ascii=False).replace(str(PROJECT), "…") for value in values]
    return found


# --- commands


def commands(folder: Path, step: int) -> dict[str, list[str]]:
    """Command lines, named; `folder` is for files that they read or write."""
    agreements = sorted(path.relative_to(PROJECT).as_posix() for path in PROJECT.glob("t*/**/agreements/*/*.txt"))
    some = spread(agreements, 12)
    deals = [
        sorted(str(each) for each in Path("tests/data/deals", name).glob("*.txt"))
        for name in ("mill_extension", "check_cement")
    ]
    triples = folder / "triples.json"
    loan = {"sub": "Loan", "sub_type": "Loan"}
    facts = [
        {"pred": "hasBorrower", "obj": "Ann Lee", "obj_type": "NaturalPerson"},
        {"pred": "hasBorrower", "obj": "Ann Lee", "obj_type": "LegalEntity"},
        {"pred": "rdf:type", "obj": "SecuredLoan", "obj_type": "Class"},
        {"pred": "rdf:type", "obj": "UnsecuredLoan", "obj_type": "Class"},
    ]
    triples.write_text(json.dumps([loan | fact for fact in facts]), encoding="utf-8")
    contract = "data/samples/contract_review/cuad/texts/Granite_Harbor_Regatta_Sponsorship.txt"
    secret = "data/samples/contract_review/source/contractnli/06_tender_documents.txt"
    vessels = "data/samples/policy/corpus/raw/vessel_safety_rules.txt"
    memo = "data/samples/policy/source/staff_handbook.txt"
    river = "Does the Main flow into the Rhine?"
    rules = "Ziklo causes not Blaf, Blaf causes Vork. Would Vork occur if not Ziklo instead of Ziklo?"
    statement = "Rising inflation lowers exports. More rainfall raises river flooding."
    lines = [
        *(["review", "--format", "jsonl", path] for path in some),
        ["review", *some[:4]],
        ["review", "--format", "json", some[5]],
        *(["review", "--deal", *paths] for paths in deals),
        ["review", "--deal", "--format", "jsonl", *deals[0]],
        ["review", "nowhere.txt"],
        ["ask", "Is the loan secured?", "--document", some[1]],
        ["ask", "Who is the borrower?", "--document", some[2], "--arm", "ovrag_triples", "--format", "json"],
        ["check", str(triples)],
        ["check", "--format", "json", str(triples)],
        ["check", "params.yaml"],
        ["vocabulary"],
        ["vocabulary", "--format", "json"],
        ["rules"],
        ["score", "nowhere"],
        ["epistemic", "license", river, "--recheck"],
        ["epistemic", "license", river, "--format", "json"],
        ["epistemic", "license", "Does the Rhine flow into the Main?"],
        ["epistemic", "license", "Who owns the Rhine?"],
        ["epistemic", "check"],
        ["epistemic", "check", "--format", "json"],
        ["policy", "ask", "How many days may I work from home?"],
        ["policy", "ask", "Who may order the vessel to leave?", "--corpus", vessels, "--format", "json"],
        ["policy", "critic", memo],
        ["policy", "critic", "--format", "json", memo],
        ["causal", "ask", rules],
        ["causal", "ask", "z -> x -> y, x <-> y. Effect of x on y?", "--format", "json"],
        ["causal", "explain", rules],
        ["causal", "verify", statement],
        ["causal", "verify", "--format", "json", statement],
        ["causal", "bench", "data/samples/causal/questions.jsonl"],
        ["contract-review", "search", contract, "who may assign"],
        ["contract-review", "search", contract, "--category", "Governing Law", "--format", "json"],
        ["contract-review", "review", contract, "--allow-seen"],
        ["contract-review", "review", contract, "--allow-seen", "--format", "json"],
        ["contract-review", "nli", secret, "--allow-seen"],
        ["contract-review", "nli", secret, "--allow-seen", "--format", "json"],
    ]

    def helps(command: Any, words: list[str]) -> Iterator[list[str]]:
        yield [*words, "--help"]
        for name, below in getattr(command, "commands", {}).items():
            yield from helps(below, [*words, name])

    lines += helps(typer.main.get_command(of("cli:app")), [])
    return {" ".join(line).replace(str(folder), "…"): line for line in lines[::step]}


def printed(line: list[str], folder: Path) -> list[str]:
    """Exit code, standard output and standard error of a command, without seconds and places of this machine."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv, sys.stdin, code = ["ovrag", *line], io.StringIO(), None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            of("cli:main")()
        except SystemExit as done:
            code = done.code
        except Exception as error:
            code = f"{type(error).__name__}: {error}"
    texts = [f"exit code {code}", out.getvalue(), err.getvalue()]
    texts = [text.replace(str(folder), "…").replace(str(PROJECT), "…") for text in texts]
    return [re.sub(r'("seconds": ?)[\d.e-]+|\b[\d.]+ s\b', r"\1…", text) for text in texts]


# --- keeping and comparing


def files() -> dict[str, str]:
    """SHA-256 of committed results and of records of runs that are there."""
    listed = ["git", "ls-files", "tables", "figures", "reports", "data/ground_truth.json"]
    names = subprocess.run(listed, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.splitlines()
    for pattern in ("data/runs/main.jsonl", "data/runs/causal/**/*.*", "data/index/chunks.jsonl"):
        names += [path.relative_to(PROJECT).as_posix() for path in PROJECT.glob(pattern)]
    names = [name for name in names if "latency" not in name and (PROJECT / name).is_file()]
    return {name: hashlib.sha256((PROJECT / name).read_bytes()).hexdigest() for name in names}


def each_result(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, list[str]] | None]]:
    """Label and results of each task and of the commands; None where a function is missing."""
    step = EVERY if options.quick else 1

    def wanted(label: str) -> bool:
        return re.search(options.only, label) is not None if options.only else True

    chosen = {label: task for label, task in tasks().items() if wanted(label)}
    texts = Texts(step, options.to) if chosen else None
    for label, task in chosen.items():
        begun = time.process_time()
        try:
            assert texts is not None
            yield label, results_of(task, texts)
        except Missing as error:
            print(f"{label}: {error} is missing")
            yield label, None
        if options.times:
            print(f"{time.process_time() - begun:6.1f} s  {label}", file=sys.stderr)
    if wanted("commands"):
        begun = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            lines = commands(Path(folder), step)
            yield "commands", {name: printed(line, Path(folder)) for name, line in lines.items()}
        if options.times:
            print(f"{time.process_time() - begun:6.1f} s  commands", file=sys.stderr)


def digest(values: list[str]) -> str:
    """SHA-256 of values, cut to 16 digits."""
    return hashlib.sha256("\0".join(values).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def values_file(folder: Path, label: str) -> Path:
    """File of a label's values."""
    return folder / "values" / f"{re.sub(r'[^a-z_]+', '-', label)}.json.gz"


def show(name: str, before: list[str], now: list[str]) -> None:
    """Print the first value that differs, from a little before the place where it does."""
    both = zip_longest(before, now, fillvalue="")
    at, (old, new) = next(((at, pair) for at, pair in enumerate(both) if pair[0] != pair[1]), (0, ("", "")))
    start = max(0, sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(old, new, strict=False))) - 120)
    print(f"  {name}, value {at + 1} of {len(before)} before and {len(now)} now, from character {start}:")
    print(f"  before: {old[start : start + 600]}\n  now:    {new[start : start + 600]}")


def save(options: argparse.Namespace) -> int:
    """Write the baseline; with `only`, these labels of it."""
    baseline = options.to / "baseline.json"
    kept = json.loads(baseline.read_text(encoding="utf-8")) if baseline.exists() and options.only else {"results": {}}
    (options.to / "values").mkdir(parents=True, exist_ok=True)
    for label, found in each_result(options):
        if found is not None:
            kept["results"][label] = {name: digest(values) for name, values in found.items()}
            with gzip.open(values_file(options.to, label), "wt", encoding="utf-8", errors="surrogatepass") as file:
                json.dump(found, file, ensure_ascii=False)
    kept["files"] = files()
    baseline.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    print(f"{len(kept['results'])} labels, {sum(map(len, kept['results'].values()))} texts, {len(kept['files'])} files")
    return 0


def compare(options: argparse.Namespace) -> int:
    """Print what differs from the baseline; 1 where something does."""
    kept = json.loads((options.to / "baseline.json").read_text(encoding="utf-8"))
    differing = 0
    for label, found in each_result(options):
        before = kept["results"].get(label, {})
        now = {name: digest(values) for name, values in (found or {}).items()}
        texts = [name for name in now if now[name] != before.get(name)]
        if not options.quick:
            texts += [name for name in before if name not in now]
        if texts or found is None:
            differing += 1
            print(f"{label}: {len(texts)} of {len(now)} differ: {', '.join(texts[:3])}{' …' * (len(texts) > 3)}")
        if found and texts and options.show:
            with gzip.open(values_file(options.to, label), "rt", encoding="utf-8", errors="surrogatepass") as file:
                values = json.load(file)
            show(texts[0], values.get(texts[0], []), found.get(texts[0], []))
    now = {} if options.only else files()
    for name in sorted(kept["files"].keys() | now.keys()) if now else []:
        kept_aside = name.startswith(("data/runs", "data/index")) and name not in now
        if now.get(name) != kept["files"].get(name) and not kept_aside:
            differing += 1
            print(f"{name}: {'differs' if name in now and name in kept['files'] else 'is new or gone'}")
    print(f"{differing} labels or files differ" if differing else "nothing differs")
    return 1 if differing else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--save", action="store_true", help="write the baseline")
    what.add_argument(
        "--compare", action="store_true", help="compare with the baseline; exit code 1: something differs"
    )
    what.add_argument("--show", metavar="LABEL", help="compare the labels with this in them, and print what differs")
    parser.add_argument("--only", metavar="PATTERN", help="only labels in which this regular expression is found")
    parser.add_argument("--quick", action="store_true", help=f"one text of {EVERY}")
    parser.add_argument("--times", action="store_true", help="print the seconds of each label")
    parser.add_argument("--to", type=Path, default=Path(os.environ.get("OVRAG_FREEZE", ".freeze")), help="the baseline")
    options = parser.parse_args()
    options.to = options.to.resolve()
    options.only = options.only or (re.escape(options.show) if options.show else None)
    os.chdir(PROJECT)
    return save(options) if options.save else compare(options)


if __name__ == "__main__":
    sys.exit(main())
