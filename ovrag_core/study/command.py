"""Shared parts of all commands: forms of output, options, errors in one line, settings and documents read."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, NoReturn, ParamSpec

import typer
import yaml
from tqdm import tqdm
from typer.core import TyperGroup

from ovrag_core.base import Document, DocumentError, OvragError, Settings, bar, load_settings, notice, project_file

if TYPE_CHECKING:
    from typer._click import Context

P = ParamSpec("P")
FOUND, BAD = 1, 2
_MOST_NAMED = 5
DEFAULT_PARAMS = Path("params.yaml")


class Format(StrEnum):
    """Form in which results are printed."""

    text = "text"
    json = "json"
    jsonl = "jsonl"


Params = Annotated[Path, typer.Option("--params", help="The parameter file.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", "-S", help="key=value, replaces a parameter.")]
Output = Annotated[Format, typer.Option("--format", "-f", help="text for people, json or jsonl for programs.")]


def fail(message: str) -> NoReturn:
    """Say what is wrong in one line, and end with exit code 2."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence_output()
    say(message)
    sys.exit(BAD)


def say(message: str) -> None:
    """One line on stderr."""
    with tqdm.external_write_mode(file=sys.stderr):  # a bar on the same terminal is taken away for the moment
        print(f"ovrag: {' '.join(message.split())}", file=sys.stderr)


def system_error_text(error: OSError) -> str:
    """A sentence for what the operating system refused: which file, why, and the remedy."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        where = f" for {error.filename}" if error.filename else ""
        return f"there is no room{where} ({reason}); what was written before is whole, make room and try again"
    if error.filename:
        return f"{error.filename} cannot be used ({reason}); mend its permissions, or name another place"
    return f"the system refused ({reason}); check the files and folders that were named"


def end_closed() -> NoReturn:
    """End as a program does whose reader has gone (`| head`): silently, by the code of SIGPIPE, no verdict given."""
    silence_output()
    sys.exit(128 + signal.SIGPIPE)


def silence_output() -> None:
    """Send standard output nowhere, so that what it still holds makes no second error when Python ends."""
    with suppress(OSError, ValueError):  # a stand-in has no descriptor, and none may be left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def writable_file(path: Path | None) -> Path | None:
    """The file of an option, once it is known that it can be written: before any work. Raises OvragError else."""
    if path is None:
        return None
    existed = path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise OvragError(f"{path} cannot be written ({error.strerror}); name a file in a folder that can be") from None
    if not existed:
        path.unlink()
    return path


def writable_folder(path: Path | None) -> Path | None:
    """The same for a folder, which need not be there yet."""
    if path is not None:
        nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
            raise OvragError(f"{path} cannot be written, for {nearest} cannot be; name another folder")
    return path


def read_settings(params: Path, overrides: Sequence[str] | None) -> Settings:
    """The settings of a file, of the project's own where none was named and there is none here."""
    return load_settings(
        project_file(params) if params == DEFAULT_PARAMS else params, dict(map(_override, overrides or []))
    )


def _override(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"-S {text}: write key=value, for example -S retrieval.top_k=5")
    try:
        return key.strip(), yaml.safe_load(value)
    except (yaml.YAMLError, ValueError):
        raise typer.BadParameter(f"-S {text}: the value is not valid YAML; put it into quotes") from None


def load_each(paths: Sequence[Path]) -> Iterator[tuple[Path, Document | str]]:
    """Each document of the call, or the sentence that says why it cannot be read."""
    from ovrag_core.documents import find, load

    listed: list[tuple[Path, str | None]] = []
    for path in paths:
        say_passed_over(path)
        try:
            listed += [(p, None) for p in find(path)]
        except DocumentError as error:
            listed.append((path, str(error)))
    with bar(len(listed), "documents", "document") as progress:
        for path, problem in listed:
            with notice(f"ovrag: reading {path} …") if len(listed) == 1 else nullcontext():
                try:
                    yield path, problem or load(path, str(path))
                except DocumentError as error:
                    yield path, str(error)
            progress.update()


def say_passed_over(folder: Path) -> None:
    """One line that names the files of a folder that are of no kind that can be read, pictures for instance."""
    from ovrag_core.documents import passed_over

    left = [path.name for path in passed_over(folder)]
    more = f" and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
    if left:
        say(f"{folder}: passed over, as their kind is not read: {', '.join(left[:_MOST_NAMED])}{more}")


def print_json(value: object, indent: int | None = 2) -> None:
    """A value as JSON on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=indent), flush=True)


def print_record(record: object, output: Format) -> None:
    """One record as JSON on stdout: indented, or, as a line of JSON Lines, on one line."""
    print_json(record, None if output is Format.jsonl else 2)


def print_records(records: Sequence[object], output: Format) -> None:
    """Records as JSON on stdout: a list, or a line each."""
    if output is Format.json:
        print_json(records)
        return
    for record in records:
        print_json(record, None)


class CommandGroup(TyperGroup):
    """Commands that print their help where none of them is asked for."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Print the help and end with 0 where nothing was asked for."""
        if not args and not ctx.resilient_parsing:
            print(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


def new_commands(help_: str | None, *, completion: bool = False) -> typer.Typer:
    """An application without commands yet; `help_` is what `--help` says of it. `-h` is `--help`."""
    return typer.Typer(
        cls=CommandGroup,
        add_completion=completion,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        help=help_,
    )


def study_commands(help_: str | None) -> typer.Typer:
    """The commands of a study, none of them yet; `help_` is what `--help` says of them."""
    app = new_commands(help_)
    app.callback()(lambda: None)  # so that a study with one command has a name for it too
    return app


def with_settings(verb: Callable[Concatenate[Settings, P], int]) -> Callable[..., int]:
    """A command whose first argument is the settings: they are read by its last options, --params and --set."""
    parameters = list(signature(verb, eval_str=True).parameters.values())[1:]
    options = [
        Parameter("params", Parameter.KEYWORD_ONLY, default=DEFAULT_PARAMS, annotation=Params),
        Parameter("overrides", Parameter.KEYWORD_ONLY, default=None, annotation=Overrides),
    ]

    def command(params: Path, overrides: list[str] | None, *args: P.args, **kwargs: P.kwargs) -> int:
        return verb(read_settings(params, overrides), *args, **kwargs)

    command.__name__, command.__doc__ = verb.__name__, verb.__doc__
    command.__annotations__ = {p.name: p.annotation for p in (*parameters, *options)}
    command.__signature__ = Signature([*parameters, *options])  # type: ignore[attr-defined]  # which typer reads
    return command
