"""Parties and terms of agreements as the reader reads them, a language model by the form, and both together.

    python benchmarks/model_reading.py [--set NAME ...] [-S llm.provider=openai ...] [--errors]

Without -S the replies recorded in data/replies/reading.jsonl.xz are replayed, for the sets `unread` and `unread2`;
`prose` lies under OVRAG_EXTERNAL_DATA, is not ours to keep and needs the model. A party's name is right when it equals
the gold name or holds it whole with at least half of its words; of a kind, a person or not. `all agree`: both orders of
the form and the reader give the same. A document that the model gives no usable reply to counts as wrong for it and for
both. Intervals are Wilson's, 95%, over documents.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reading import PROJECT, same_name, sets, show
from tqdm import tqdm

from ovrag_core.base import ModelError, ModelSetupError, StoreError
from ovrag_core.documents import load
from ovrag_core.evaluation import wilson
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reading.chat import WINDOW, windows_of
from ovrag_core.loans.reading.hybrid import FormHybrid, form_reader
from ovrag_core.loans.workbench import open_connection
from ovrag_core.loop import FieldRead, FormReader
from ovrag_core.ontology import open_form, open_ontology, read_value
from ovrag_core.study import read_settings
from tables import table

REPLIES = "data/replies/reading.jsonl.xz"
RECORDED = (
    "llm.provider=replay",
    f"llm.store={REPLIES}",
    "llm.model=qwen2.5-coder-1.5b-instruct-q4_k_m",
    "llm.max_tokens=400",
)
SETS = ("unread", "unread2")


@dataclass(frozen=True)
class Read:
    """One field of one document: what each reads of it, and whether both orders of the form agree."""

    wanted: Any
    reader: Any
    model: Any
    both: Any
    is_agreed: bool


def fields_of(want: dict[str, Any], facts: Any, filled: dict[str, FieldRead], both: Any) -> Iterator[tuple[str, Read]]:
    """Name and readings of each field that the gold speaks of."""
    for role in ("borrower", "lender"):
        if gold := want.get(role):
            mine, ours = getattr(facts, role, None), getattr(both, role, None)
            field = filled.get(role)
            name = field.filled.value if field else None
            agreed = bool(field and field.filled.is_agreed)
            yield f"{role} name", Read(gold["name"], mine and mine.name, name, ours and ours.name, agreed)
            if gold.get("kind"):
                kind = field.filled.kind if field else None
                kinds = (_is_person(gold["kind"]), mine and _is_person(mine.kind), _is_person(kind))
                yield f"{role} person", Read(*kinds, ours and _is_person(ours.kind), agreed)
    for name, values in (("principal", "amount"), ("interest_rate", "rate"), ("maturity", "date")):
        if name in want:
            field = filled.get(name)
            said = _normal(field.filled.value, values) if field else None
            agreed = field.filled.is_agreed if field else True  # nothing by either order
            read = (_value(want[name], values), _value(getattr(facts, name, None), values))
            yield name.replace("_", " "), Read(*read, said, _value(getattr(both, name, None), values), agreed)


def _is_person(kind: str | None) -> bool | None:
    return None if kind is None else kind.replace("_", "").casefold() == "naturalperson"


def _value(value: Any, values: str) -> str | None:
    if value is None:
        return None
    if values == "amount":
        amount = value["amount"] if isinstance(value, dict) else value.amount
        return _normal(f"USD {amount}", values)
    return _normal(str(value), values)


def _normal(text: str, values: str) -> str | None:
    read = read_value(text, values)
    return read.lexical if read else None


def is_right(name: str, got: Any, wanted: Any) -> bool:
    """Whether a reading is the gold's."""
    return same_name(got or "", wanted) if name.endswith("name") else got == wanted


def rows(name: str, read: list[tuple[str, str, Read]]) -> Iterator[tuple[str, ...]]:
    """A row a field of a set."""
    for field in dict.fromkeys(each[1] for each in read):
        of = [each for _, other, each in read if other == field]
        cells = [wilson(sum(is_right(field, getattr(each, by), each.wanted) for each in of), len(of)) for by in WHO]
        same = [
            it
            for it in of
            if it.is_agreed and None not in (it.model, it.reader) and is_right(field, it.model, it.reader)
        ]
        agreed = sum(is_right(field, each.both, each.wanted) for each in same)
        yield name, field, str(len(of)), *map(show, cells), f"{agreed} of {len(same)}"


WHO = ("reader", "model", "both")


def main() -> int:
    """Print the table, and the number of fields on which all agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="*", dest="names", choices=[*SETS, "check", "prose"])
    parser.add_argument("-S", action="append", default=[], dest="overrides", metavar="NAME=VALUE")
    parser.add_argument("--errors", action="store_true")
    arguments = parser.parse_args()
    overrides = [*(() if arguments.overrides else RECORDED), *arguments.overrides]
    settings = read_settings(PROJECT / "params.yaml", overrides)
    names = arguments.names or list(SETS)
    ontology = open_ontology(settings)
    made: list[tuple[str, ...]] = []
    connection = open_connection(settings)
    if connection is None:
        sys.exit(
            "a model is needed: leave -S out to replay the recorded replies, or name one with -S llm.provider=openai"
        )
    with connection, TemporaryDirectory() as folder:
        form = open_form(settings, ontology)
        model = form_reader(connection.chat, form, seed=settings.llm.seed)
        hybrid = FormHybrid(model, reader, reader.NAME, ontology)
        for name, paths, gold in sets(names, [], Path(folder)):
            read = list(_read_set(paths, gold, model, hybrid, settings.llm.concurrency))
            made += rows(name, read)
            if arguments.errors:
                print(
                    *(f"  {name} {stem} {field}: {each}" for stem, field, each in read if _is_wrong(field, each)),
                    sep="\n",
                )
    print(f"model: {model.name}")
    print(table(("set", "field", "n", *WHO, "all agree: right"), made), end="")
    return 0


def _read_set(
    paths: list[Path], gold: dict[str, Any], model: FormReader, hybrid: FormHybrid, at_once: int
) -> Iterator[tuple[str, str, Read]]:
    with ThreadPoolExecutor(at_once) as pool:
        made = pool.map(partial(_readings, model=model, hybrid=hybrid), paths)
        for path, readings in zip(paths, tqdm(made, total=len(paths), unit="document"), strict=True):
            for field, each in fields_of(gold[path.stem], *readings):
                yield path.stem, field, each


def _readings(path: Path, model: FormReader, hybrid: FormHybrid) -> tuple[Any, dict[str, FieldRead], Any]:
    """What the reader, the model and both read of a document."""
    document = load(path)
    mine = reader.read(document).facilities
    main = mine[0] if mine else None
    try:
        filled = {field: each for (_, field), each in model.read(windows_of(document, WINDOW), "context").items()}
        both = hybrid.read(document).facilities
    except ModelSetupError:
        raise
    except (ModelError, StoreError) as error:  # no usable reply, or none that could be recorded: counts as wrong
        print(f"{path.stem}: {error}", file=sys.stderr)
        return main, {}, None
    return main, filled, both[0] if both else None


def _is_wrong(field: str, read: Read) -> bool:
    return any(not is_right(field, getattr(read, by), read.wanted) for by in WHO)


if __name__ == "__main__":
    sys.exit(main())
