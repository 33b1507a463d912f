"""Files of text, YAML and lines of JSON: errors name file and line; what is written appears whole or not at all."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from ovrag_core.base.errors import OvragError

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
FOLDER = "name a file in a folder that exists"
_LONGEST = 40  # characters of a value that a message quotes


def read_text(path: Path, error: type[OvragError], remedy: str) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark. Raises `error` where it cannot be read."""
    with _readable(path, error, remedy):
        return path.read_text(encoding="utf-8-sig")


def read_lines(path: Path, error: type[OvragError], remedy: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that hold something, with their numbers from 1. Raises as `read_text`."""
    with _readable(path, error, remedy), path.open(encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line.removesuffix("\n")


@contextmanager
def _readable(path: Path, error: type[OvragError], remedy: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise error(f"{path} is not UTF-8; save it as UTF-8 and try again") from None
    except FileNotFoundError:
        raise error(f"{path} does not exist; {remedy}") from None
    except OSError as problem:
        raise error(f"{path} cannot be read ({problem.strerror or problem}); {remedy}") from None


def read_yaml(path: Path, error: type[OvragError], remedy: str) -> Any:
    """Return what a YAML file holds. Raises `error` with the line of what is no YAML, and as `read_text`."""
    try:
        return yaml.safe_load(read_text(path, error, remedy))
    except (yaml.YAMLError, ValueError) as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f" at line {mark.line + 1} or just above it" if mark else ""
        raise error(f"{path} is not valid YAML{where}; mend that and try again") from None


def read_model(path: Path, model: type[T], error: type[OvragError], remedy: str) -> T:
    """Return what a YAML file holds as `model`, a type that pydantic knows. Raises `error` that names the field."""
    try:
        return TypeAdapter(model).validate_python(read_yaml(path, error, remedy))
    except ValidationError as problem:
        raise error(f"{path}: {fault(problem)}; {remedy}") from None


def read_records(path: Path, model: type[M], error: type[OvragError], remedy: str) -> Iterator[tuple[int, M]]:
    """Yield the records of a file of JSON lines, with their line numbers. Raises `error` with line and field."""
    for number, line in read_lines(path, error, remedy):
        yield number, parse(line, model, f"{path}, line {number}", error, remedy)


def parse(text: str | bytes, model: type[M], where: str, error: type[OvragError], remedy: str = "") -> M:
    """Return the record in a JSON text. Raises `error` that begins with `where` and names the field."""
    try:
        return model.model_validate_json(text)
    except ValidationError as problem:
        raise error(f"{where}: {fault(problem)}{remedy and f'; {remedy}'}") from None


def fault(error: ValidationError) -> str:
    """Return the first fault of a record as a clause that names the field."""
    problem = error.errors(include_url=False)[0]
    field = ".".join(str(key) for key in problem["loc"])
    match problem["type"]:
        case "json_invalid":
            return "this is not JSON"
        case "missing":
            return f"{field!r} is missing"
        case "literal_error":
            return f"{field} is {repr(problem['input'])[:_LONGEST]}; known are {problem['ctx']['expected']}"
    return f"{field or 'the line'} cannot be used ({problem['msg'][0].lower()}{problem['msg'][1:]})"


@contextmanager
def replacing(path: Path, error: type[OvragError], remedy: str = FOLDER, *, parents: bool = False) -> Iterator[Path]:
    """Give the path of a file to write, which then takes the place of `path`; where anything fails, nothing is left.

    `parents`: folders that lack are made. Raises `error` where the system refuses.
    """
    unfinished = path.with_name(f".{path.name}.partial")
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield unfinished
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as problem:
        raise error(f"{path} cannot be written ({problem.strerror or problem}); {remedy}") from None


@contextmanager
def writing(path: Path, error: type[OvragError], remedy: str = FOLDER, *, parents: bool = False) -> Iterator[TextIO]:
    """Open a file of text in UTF-8 that appears under its name when it is whole. Raises as `replacing`."""
    whole = replacing(path, error, remedy, parents=parents)
    with whole as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def write_text(text: str, path: Path, error: type[OvragError], *, parents: bool = False) -> None:
    """Write a text as `writing` does."""
    with writing(path, error, parents=parents) as file:
        file.write(text)


def write_records(records: Iterable[Mapping[str, object]], path: Path, error: type[OvragError]) -> int:
    """Write records as lines of JSON, as `writing` does, and return their number."""
    with writing(path, error) as file:
        return sum(1 for record in records if file.write(json.dumps(record, ensure_ascii=False) + "\n"))


def sidecar(path: Path, part: str) -> Path:
    """Return the path of a part that stands beside a file: `run.jsonl`, `latency` gives `run.latency.jsonl`."""
    return path.with_name(f"{path.stem}.{part}{path.suffix}")
