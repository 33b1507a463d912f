"""A chat model's triples joined with the clause reader's over the same text.

The reader looks at every clause and resolves nothing, so a model that smooths a contradiction away, or is talked out
of it by the text itself, cannot hide it. Both speak of the same facilities and parties, under the reader's names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ovrag_core.base import Chunk, Document, Origin, Triple
from ovrag_core.llm import Once
from ovrag_core.loans.loan_facts import LoanReading
from ovrag_core.loans.reading.facilities import FacilityName, find_facilities, mentioned
from ovrag_core.loans.reading.reader import FORM
from ovrag_core.loans.reading.sentences import plain_text, units
from ovrag_core.loans.reading.subjects import ROLES, is_generic, loan_names, loans, party_names, renamed, words_of
from ovrag_core.ontology import entity_key, fold

if TYPE_CHECKING:
    from ovrag_core.loop import Extractor

CHUNKS = 4_000  # whose reading is kept

_ROLE_WORDS = {
    **dict.fromkeys(("borrower", "borrowers", "obligor", "debtor", "maker", "mortgagor", "customer"), "hasBorrower"),
    **dict.fromkeys(("lender", "lenders", "creditor", "payee", "bank", "mortgagee", "issuer"), "hasLender"),
    **dict.fromkeys(("guarantor", "surety"), "hasGuarantor"),
}


class RawReader(Protocol):
    """A model's reading of texts, before it is put beside the reader's."""

    @property
    def name(self) -> str:
        """The name that results are labelled with."""

    def read_raw(self, document: Document) -> tuple[Triple, ...]:
        """The triples of a whole document."""

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """The triples of a piece of text."""

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        """The triples of retrieved chunks."""


class HybridExtractor:
    """The reader's statements, then those of the model that the reader does not make. Facts are the reader's."""

    def __init__(
        self, chat: RawReader, reader: Extractor[LoanReading], reader_name: str, *, fills_form: bool = False
    ) -> None:
        self._chat = chat
        self._join = complemented if fills_form else joined
        self._reader = reader
        self._read: Once[Chunk, tuple[Triple, ...]] = Once(CHUNKS)  # every question of a document retrieves the same
        self.name = f"{chat.name} + {reader_name}"

    def read(self, document: Document) -> LoanReading:
        """Facts and triples of a whole document. Raises a ModelError where the model cannot read a part of it."""
        reading = self._reader.read(document)
        if reading.status != "loan":
            return reading
        subjects = [facility.subject for facility in reading.facilities]
        said = aligned(self._chat.read_raw(document), reading.triples, subjects, document.text)
        return reading.model_copy(update={"triples": self._join(reading.triples, said)})

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """The triples of a piece of text that begins at `start` of the document. Raises a ModelError."""
        mine = self._reader.read_passage(text, document_id=document_id, start=start, origin=origin)
        said = self._chat.read_passage(text, document_id=document_id, start=start, origin=origin)
        return self._join(mine, aligned(said, mine, loans(mine), text))

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        """The triples of retrieved chunks: the model reads them together, the reader one by one."""
        said = self._chat.read_chunks(chunks)
        found: list[Triple] = []
        for document_id in dict.fromkeys(chunk.document_id for chunk in chunks):
            own = [chunk for chunk in chunks if chunk.document_id == document_id]
            mine = [triple for chunk in own for triple in self._chunk(chunk)]
            theirs = [triple for triple in said if triple.evidence and triple.evidence.document_id == document_id]
            text = "\n\n".join(chunk.text for chunk in own)
            found += self._join(mine, aligned(theirs, mine, loans(mine), text))
        return tuple(found)

    def _chunk(self, chunk: Chunk) -> tuple[Triple, ...]:
        return self._read.get(chunk, lambda: self._reader.read_chunks([chunk])).value


def joined(first: Sequence[Triple], second: Iterable[Triple]) -> tuple[Triple, ...]:
    """All of `first`, and those of `second` that say something else."""
    known = {_content(triple) for triple in first}
    return (*first, *(triple for triple in second if _content(triple) not in known))


def complemented(first: Sequence[Triple], second: Iterable[Triple]) -> tuple[Triple, ...]:
    """All of `first`, and those of `second` about what `first` is silent on.

    A field of a form has one value: a second borrower would be a second individual with a kind of its own, and a
    contradiction that the document does not have. Of several facilities only parties are the same.
    """
    known = {(fold(triple.subject), triple.predicate) for triple in first}
    several = len(loans(first)) > 1
    new = [each for each in second if (fold(each.subject), each.predicate) not in known]
    return (*first, *(each for each in new if not several or each.predicate in ROLES))


def _content(triple: Triple) -> tuple[str, str, str]:
    return fold(triple.subject), fold(triple.predicate), fold(triple.object)


def aligned(said: Sequence[Triple], known: Sequence[Triple], subjects: Sequence[str], text: str) -> tuple[Triple, ...]:
    """The model's statements `said` about the reader's facilities (`subjects`) and parties, by what the reader `known`.

    With one facility, all of the model's are that one unless it tells several apart. With several, a statement goes
    to the one it names; else to all, but for the form of credit, in which facilities differ.
    """
    said = renamed(said, _parties(said, known))
    names = loan_names(loans(said))
    if len(subjects) == 1:
        only = {name: subjects[0] if new == "Loan" else new for name, new in names.items()}
        return renamed(said, only)
    if not subjects:
        return renamed(said, names)
    plain = plain_text(text).text
    facilities = [each for each in find_facilities(plain, units(plain)) if each.subject in subjects]
    found = [each for triple in said for each in _placed(triple, names, subjects, facilities)]
    return renamed(found, {})


def _placed(
    triple: Triple, names: dict[str, str], subjects: Sequence[str], facilities: Sequence[FacilityName]
) -> list[Triple]:
    """The statement about each facility that it concerns, where there are several."""
    if triple.subject not in names:
        return [triple]
    same = {fold(subject): subject for subject in subjects}
    if fold(triple.subject) in same:
        return [triple.model_copy(update={"subject": same[fold(triple.subject)]})]
    quote = triple.evidence.quote if triple.evidence else ""
    named = mentioned(words_of(triple.subject), facilities) or mentioned(quote, facilities)
    if named:
        return [triple.model_copy(update={"subject": each.subject}) for each in named[:1]]
    if not is_generic(triple.subject):
        return [triple.model_copy(update={"subject": names[triple.subject]})]
    if triple.object in FORM:
        return []
    return [triple.model_copy(update={"subject": subject}) for subject in subjects]


def _parties(said: Sequence[Triple], known: Sequence[Triple]) -> dict[str, str]:
    """The model's names of parties → the reader's for the same one."""
    by_role = {triple.predicate: triple.object for triple in reversed(known) if triple.predicate in ROLES}
    by_key = {entity_key(triple.object): triple.object for triple in reversed(known) if triple.predicate in ROLES}
    names = party_names(said)
    called = dict.fromkeys(
        name
        for triple in said
        for name in ((triple.object,) if triple.predicate in ROLES else (triple.subject,))
        if triple.subject_type != "Loan" or triple.predicate in ROLES
    )
    found: dict[str, str] = {}
    for name in called:
        bare = names.get(name, name)
        role = _ROLE_WORDS.get(fold(bare).removeprefix("the"))
        new = by_role.get(role, bare) if role else by_key.get(entity_key(bare), bare)
        if new != name:
            found[name] = new
    return found
