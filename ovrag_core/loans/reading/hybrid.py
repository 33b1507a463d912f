"""A chat model's triples joined with the clause reader's over the same text.

The reader looks at every clause and resolves nothing, so a model that smooths a contradiction away, or is talked out
of it by the text itself, cannot hide it. Both speak of the same facilities and parties, under the reader's names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ovrag_core.base import Chunk, Document, Evidence, Origin, Triple
from ovrag_core.llm import Chat
from ovrag_core.loans.loan_facts import PREDICATES, Facility, LoanReading, SecondReading, Standing
from ovrag_core.loans.reading.chat import WINDOW, ChatExtractor, windows_of
from ovrag_core.loans.reading.claims import FORM
from ovrag_core.loans.reading.facilities import FacilityName, find_facilities, mentioned
from ovrag_core.loans.reading.facts import PARTY_CLASSES, facilities_of
from ovrag_core.loans.reading.names import shown_bearer
from ovrag_core.loans.reading.prepared import without_orders
from ovrag_core.loans.reading.sentences import plain_text
from ovrag_core.loans.reading.subjects import (
    LOAN,
    ROLE_WORDS,
    ROLES,
    is_generic,
    loan_names,
    loans,
    party_names,
    renamed,
    without_repetitions,
    words_of,
)
from ovrag_core.loans.reading.values import find_values, values_in
from ovrag_core.loop import FieldRead, FormReader, together
from ovrag_core.ontology import Form, Ontology, entity_key, fold, read_value

if TYPE_CHECKING:
    from ovrag_core.loop import Extractor


class HybridExtractor:
    """The reader's statements, then those of the model that the reader does not make. Facts are the reader's."""

    def __init__(self, chat: ChatExtractor, reader: Extractor[LoanReading], reader_name: str) -> None:
        self._chat = chat
        self._reader = reader
        self.name = f"{chat.name} + {reader_name}"

    def read(self, document: Document) -> LoanReading:
        """Facts and triples of a whole document. Raises a ModelError where the model cannot read a part of it."""
        reading = self._reader.read(document)
        if reading.status != "loan":
            return reading
        model_triples = aligned(self._chat.read_raw(document), reading.triples, reading.subjects, document.text)
        return reading.model_copy(update={"triples": joined(reading.triples, model_triples)})

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """The triples of a piece of text that begins at `start` of the document. Raises a ModelError."""
        mine = self._reader.read_passage(text, document_id=document_id, start=start, origin=origin)
        theirs = self._chat.read_passage(text, document_id=document_id, start=start, origin=origin)
        return joined(mine, aligned(theirs, mine, loans(mine), text))

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        """The triples of retrieved chunks: the model reads them together, the reader one by one."""
        model_triples = self._chat.read_chunks(chunks)
        triples: list[Triple] = []
        for document_id, document_chunks in _by_document(chunks).items():
            mine = self._reader.read_chunks(document_chunks)
            theirs = [t for t in model_triples if t.evidence and t.evidence.document_id == document_id]
            text = "\n\n".join(chunk.text for chunk in document_chunks)
            triples += joined(mine, aligned(theirs, mine, loans(mine), text))
        return tuple(triples)


class AnswersAlone:
    """Answers as an extractor reads them, everything else as the reader does: what a model is worth on answers."""

    def __init__(self, extractor: Extractor[LoanReading], reader: Extractor[LoanReading], name: str) -> None:
        self._by_origin = {"answer": extractor, "context": reader}
        self.read, self.read_chunks = reader.read, reader.read_chunks
        self.name = f"{name}, of answers alone"

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """The triples of a piece of text that begins at `start` of the document. Raises a ModelError."""
        return self._by_origin[origin].read_passage(text, document_id=document_id, start=start, origin=origin)


def _by_document(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    groups: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.document_id, []).append(chunk)
    return groups


def joined(first: Sequence[Triple], second: Iterable[Triple]) -> tuple[Triple, ...]:
    """All of `first`, and those of `second` that say something else."""
    contents = {_content(triple) for triple in first}
    return (*first, *(triple for triple in second if _content(triple) not in contents))


class FormHybrid:
    """The reader's statements, and where it is silent what a model copies into a form.

    Of a whole document the whole form is asked for, so that both readings can be shown, and where they differ the one
    that `prevails` is taken; of chunks and answers only what the reader is silent on. No form tells all classes of
    loans, so a model does not read by it alone.
    """

    def __init__(
        self,
        model: FormReader,
        reader: Extractor[LoanReading],
        reader_name: str,
        ontology: Ontology,
        *,
        window: int = WINDOW,
    ) -> None:
        self._model = model
        self._reader = reader
        self._ontology = ontology
        self._window = window
        self.name = f"{model.name} + {reader_name}"

    def read(self, document: Document) -> LoanReading:
        """Facts and triples of a whole document. Raises a ModelError where the model cannot read a part of it."""
        reading = self._reader.read(document)
        if reading.status != "loan":
            return reading
        filled = self._model.read(windows_of(document, self._window), "context").values()
        field_reads = [replace(r, evidence=Evidence.of(document, r.evidence.start, r.evidence.end)) for r in filled]
        subjects = reading.subjects
        main = next(iter(subjects), LOAN)
        main_triples = [t for t in reading.triples if t.subject == main]
        passed = _passed_over(document.text, subjects)
        stated = [_as_named(r) for r in field_reads if _kind(r) not in passed]
        better = frozenset(r.filled.field.term.name for r in stated if prevails(r, main_triples))
        reader_triples = [
            t
            for t in reading.triples
            if t.predicate not in better or (t.subject != main and t.predicate not in ROLES)  # whose parties are all's
        ]
        model_triples = [
            t if t.predicate in ROLES else t.model_copy(update={"subject": main})  # a term is the main facility's
            for t in self._statements(stated, "context")
        ]
        triples = complemented(reader_triples, aligned(model_triples, reader_triples, subjects, document.text))
        second = second_readings(field_reads, main_triples, triples, better, self._model.name)
        facilities = tuple(self._facilities(reading, triples))
        return reading.model_copy(update={"triples": triples, "facilities": facilities, "second": tuple(second)})

    def _facilities(self, reading: LoanReading, triples: Sequence[Triple]) -> Iterable[Facility]:
        """The facts that statements make of a reading's facilities, which keep their names."""
        made = {facility.subject: facility for facility in facilities_of(triples, self._ontology)}
        named = [made.get(f.subject, f).model_copy(update={"name": f.name}) for f in reading.facilities]
        return named or made.values()

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """The triples of a piece of text that begins at `start` of the document. Raises a ModelError."""
        mine = self._reader.read_passage(text, document_id=document_id, start=start, origin=origin)
        return self._complemented(mine, [Chunk("", document_id, start, start + len(text), text)], origin)

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        """The triples of retrieved chunks, those of one document read together. Raises a ModelError."""
        triples: list[Triple] = []
        for document_chunks in _by_document(chunks).values():
            mine = self._reader.read_chunks(document_chunks)
            triples += self._complemented(mine, together(document_chunks), "context")
        return tuple(triples)

    def _complemented(self, mine: tuple[Triple, ...], pieces: Sequence[Chunk], origin: Origin) -> tuple[Triple, ...]:
        silent = silent_fields(mine, self._model.form)
        if not silent:
            return mine
        model_triples = self._statements(self._model.read(pieces, origin, silent).values(), origin)
        text = "\n\n".join(piece.text for piece in pieces)
        return complemented(mine, aligned(model_triples, mine, loans(mine), text))

    def _statements(self, found: Iterable[FieldRead], origin: Origin) -> list[Triple]:
        """Statements on which the model's two readings agree."""
        return [r.triple(self._model.form, origin) for r in found if r.filled.is_agreed]


def form_reader(chat: Chat, form: Form, *, seed: int | None = 42) -> FormReader:
    """Build a reader of loan documents by a form."""
    return FormReader(chat, form, without_orders, seed=seed)


def silent_fields(mine: Sequence[Triple], form: Form) -> frozenset[str]:
    """The fields of a form that statements do not fill in; of several facilities only parties, who are the same."""
    subjects = loans(mine)
    fields = form.parties if len(subjects) > 1 else (*form.parties, *form.terms)
    stated = {(triple.subject, triple.predicate) for triple in mine}
    return frozenset(
        field.name
        for field in fields
        if not subjects or any((subject, field.term.name) not in stated for subject in subjects)
    )


def complemented(first: Sequence[Triple], second: Iterable[Triple]) -> tuple[Triple, ...]:
    """All of `first`, and those of `second` about what `first` is silent on, be it the kind of a party.

    A field of a form has one value: a second borrower would be a second individual with a kind of its own, and a
    contradiction that the document does not have.
    """
    stated = {_matter(triple) for triple in first}
    parties = [triple for triple in first if triple.predicate in ROLES]
    typed = {entity_key(triple.subject) for triple in first if triple.predicate == "rdf:type"}
    typed |= {entity_key(party.object) for party in parties if party.object_type}
    untyped = {key: party.object for party in parties if (key := entity_key(party.object)) not in typed}
    triples = list(first)
    for candidate in second:
        if _matter(candidate) not in stated:
            triples.append(candidate)
        elif candidate.object_type and (name := untyped.pop(entity_key(candidate.object), None)):
            kind = {"subject": name, "predicate": "rdf:type", "object": candidate.object_type}
            triples.append(candidate.model_copy(update={**kind, "subject_type": "", "object_type": ""}))
    return tuple(triples)


def _matter(triple: Triple) -> tuple[str, ...]:
    """Matter of a statement: a class of its subject, or a property of it, whatever the value."""
    return _content(triple) if triple.predicate == "rdf:type" else (fold(triple.subject), triple.predicate)


def _passed_over(text: str, subjects: Sequence[str]) -> set[str]:
    """The kinds of values that a model is not believed on.

    Of several facilities it gives the sum of all. A variable rate is no rate in figures: a model's is passed over where
    no percentage is likely the contract's.
    """
    passed = {"amount"} if len(subjects) > 1 else set[str]()
    if values_in(text).rates and not find_values(text).rates:
        passed.add("rate")
    return passed


def prevails(read: FieldRead, given: Sequence[Triple]) -> bool:
    """Decide if what a model reads is taken instead of what the reader gives, where the two differ.

    It is where both orders of the form give the same sum, the same later day (of the days of a loan that by which all
    has to be paid back is the last), or the same party, unless the reader knows that one in another role.
    """
    predicate, kind = read.filled.field.term.name, _kind(read)
    mine = [t.object for t in given if t.predicate == predicate]
    value = read.filled.value
    if not mine or not read.filled.is_agreed or any(_is_same(value, m, kind) for m in mine):
        return False
    if kind == "name":
        return not any(_is_same(value, t.object, kind) for t in given if t.predicate in ROLES)
    return kind == "amount" or (kind == "date" and _normal(value, kind) > max(_normal(m, kind) for m in mine))


def second_readings(
    found: Iterable[FieldRead], given: Sequence[Triple], triples: Sequence[Triple], better: Collection[str], by: str
) -> Iterator[SecondReading]:
    """Yield what a model reads of the main facility beside what the reader gives.

    Where the model's value is `better`, yield the reader's.
    """
    facts = {predicate: fact for fact, predicate in PREDICATES.items()}
    for field_read in found:
        predicate, value = field_read.filled.field.term.name, " ".join(field_read.filled.value.split())
        if predicate not in facts:
            continue
        evidence, standing = field_read.evidence, _standing(field_read, given, triples)
        reader_triple = next((t for t in given if t.predicate == predicate and t.evidence), None)
        if predicate in better and reader_triple and reader_triple.evidence:
            value, evidence, standing = reader_triple.object, reader_triple.evidence, "instead"
        yield SecondReading(fact=facts[predicate], value=value, standing=standing, by=by, evidence=evidence)


def _standing(read: FieldRead, given: Iterable[Triple], triples: Iterable[Triple]) -> Standing:
    mine = [t.object for t in given if t.predicate == read.filled.field.term.name]
    if mine:
        return "same" if any(_is_same(read.filled.value, m, _kind(read)) for m in mine) else "other"
    return "taken" if any(t.evidence == read.evidence for t in triples) else "unsure"


def _kind(read: FieldRead) -> str:
    return "name" if read.filled.field.term.name in ROLES else read.filled.field.term.values


def _is_same(one: str, other: str, kind: str) -> bool:
    """Return True where two values are the same; of names one may hold the other."""
    left, right = _normal(" ".join(one.split()), kind), _normal(other, kind)
    if kind == "name":
        return f" {left} " in f" {right} " or f" {right} " in f" {left} "
    return left == right


def _as_named(read: FieldRead) -> FieldRead:
    """A party with the kind that its name shows, where it shows one: "Bank" says more than a small model."""
    if _kind(read) != "name":
        return read
    kind = shown_bearer(" ".join(read.filled.value.split()))
    return replace(read, filled=replace(read.filled, kind=PARTY_CLASSES[kind])) if kind else read


def _normal(value: str, kind: str) -> str:
    read = read_value(value, kind) if kind != "name" else None
    return read.lexical if read else entity_key(value)


def _content(triple: Triple) -> tuple[str, ...]:
    return fold(triple.subject), fold(triple.predicate), fold(triple.object)


def aligned(said: Sequence[Triple], known: Sequence[Triple], subjects: Sequence[str], text: str) -> tuple[Triple, ...]:
    """The model's statements `said` about the reader's facilities (`subjects`) and parties, by what the reader `known`.

    With one facility, all of the model's are that one unless it tells several apart. With several, a statement goes
    to the one it names; else to all, but for the form of credit, in which facilities differ.
    """
    said = renamed(said, _parties(said, known))
    names = loan_names(loans(said))
    if len(subjects) < 2:
        main = next(iter(subjects), LOAN)
        return renamed(said, {name: main if new == LOAN else new for name, new in names.items()})
    facilities = [f for f in find_facilities(plain_text(text).text) if f.subject in subjects]
    return without_repetitions(p for triple in said for p in _placed(triple, names, subjects, facilities))


def _placed(
    triple: Triple, names: dict[str, str], subjects: Sequence[str], facilities: Sequence[FacilityName]
) -> list[Triple]:
    """The statement about each facility that it concerns, where there are several."""
    if triple.subject not in names:
        return [triple]
    quote = triple.evidence.quote if triple.evidence else ""
    concerned: Sequence[str] = subjects
    if same := [subject for subject in subjects if fold(subject) == fold(triple.subject)]:
        concerned = same
    elif named := mentioned(words_of(triple.subject), facilities) or mentioned(quote, facilities):
        concerned = [named[0].subject]
    elif not is_generic(triple.subject):
        concerned = [names[triple.subject]]
    elif triple.object in FORM:
        concerned = []
    return [triple.model_copy(update={"subject": subject}) for subject in concerned]


def _parties(said: Sequence[Triple], known: Sequence[Triple]) -> dict[str, str]:
    """The model's names of parties → the reader's for the same one."""
    by_role = {triple.predicate: triple.object for triple in reversed(known) if triple.predicate in ROLES}
    by_key = {entity_key(triple.object): triple.object for triple in reversed(known) if triple.predicate in ROLES}
    bare_names = party_names(said)
    others = {triple.subject for triple in said if triple.predicate not in ROLES and triple.subject_type != LOAN}
    renames: dict[str, str] = {}
    for name in bare_names.keys() | others:
        bare = bare_names.get(name, name)
        role = ROLE_WORDS.get(fold(bare).removeprefix("the"))
        renames[name] = by_role.get(role, bare) if role else by_key.get(entity_key(bare), bare)
    return renames
