"""What all commands share: forms of output, options, errors in one line, settings and documents read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
import yaml
from tqdm import tqdm

from ovrag_core.errors import DocumentError
from ovrag_core.project import project_file
from ovrag_core.settings import Settings, load_settings

if TYPE_CHECKING:
    from ovrag_core.types import Document

FOUND, BAD = 1, 2
DEFAULT_PARAMS = Path("params.yaml")


class Format(StrEnum):
    """How results are printed."""

    text = "text"
    json = "json"
    jsonl = "jsonl"


Params = Annotated[Path, typer.Option("--params", help="The parameter file.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", "-S", help="key=value, replaces a parameter.")]
Output = Annotated[Format, typer.Option("--format", "-f", help="text for people, json or jsonl for programs.")]


def fail(message: str) -> NoReturn:
    """Say what is wrong in one line, and end with exit code 2."""
    say(message)
    sys.exit(BAD)


def say(message: str) -> None:
    """One line on stderr."""
    print(f"ovrag: {' '.join(message.split())}", file=sys.stderr)


def read_settings(params: Path, overrides: Sequence[str] | None) -> Settings:
    """The settings of a file, of the project's own where none was named and there is none here."""
    return load_settings(
        project_file(params) if params == DEFAULT_PARAMS else params, dict(map(_override, overrides or []))
    )


def _override(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"--set {text}: write key=value, for example --set retrieval.top_k=5")
    try:
        return key.strip(), yaml.safe_load(value)
    except (yaml.YAMLError, ValueError):
        raise typer.BadParameter(f"--set {text}: the value is not valid YAML; put it into quotes") from None


def load_each(paths: Sequence[Path]) -> Iterator[tuple[Path, Document | str]]:
    """Each document of the call, or the sentence that says why it cannot be read."""
    from ovrag_core.documents import find, load

    found: list[tuple[Path, str | None]] = []
    for path in paths:
        try:
            found += [(each, None) for each in find(path)]
        except DocumentError as error:
            found.append((path, str(error)))
    for path, problem in tqdm(found, unit="document", delay=2, disable=len(found) < 2):
        if problem is not None:
            yield path, problem
            continue
        try:
            yield path, load(path, str(path))
        except DocumentError as error:
            yield path, str(error)


def print_json(value: object, indent: int | None = 2) -> None:
    """A value as JSON on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=indent))
