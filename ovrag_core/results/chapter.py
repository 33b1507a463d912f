"""What a chapter takes from the results: its inputs, its macros, and numbers that were typed where a macro belongs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ovrag_core.results.provenance import macros

INPUT = re.compile(r"\\(?:input|include|result)\{([^}#]*)\}")
WORD = re.compile(r"\\([A-Za-z]+)")
DEFINED = re.compile(r"\\(?:re|provide)?newcommand\*?\{?\\([A-Za-z]+)|\\def\\([A-Za-z]+)")
COMMENT = re.compile(r"(?<!\\)%.*")
# Arguments that hold no prose: names of files, labels, sizes, and the options in brackets before them.
NO_PROSE = re.compile(
    r"\\(?:input|include|result|includegraphics|label|[a-zA-Z]*ref|cite[a-z]*|usepackage|documentclass|geometry|"
    r"graphicspath|setlength|setcounter|addtolength|[a-z]*command|vspace|hspace|url|href|begin|end|def|pdf[a-z]+)"
    r"(?![A-Za-z])\*?(?:\[[^\]]*\]|\{[^}]*\})*(?:=-?\d+)?"
)
NUMBER = re.compile(r"(?<![A-Za-z\d.#])\d+(?:[.,]\d+)*")  # F1 and the like are names


def chapter_problems(folder: Path, results: Iterable[str], values: Mapping[str, str], project: Path) -> list[str]:
    """What keeps the chapter in `folder` from saying what the results say, one sentence each.

    `results` are paths of tables, figures and macros that must be taken, `values` the macros that they define.
    Reported: inputs that do not exist, results that no file takes, macros that look like ours and are not defined,
    typed numbers.
    """
    sources = sorted(folder.glob("*.tex"))
    texts = {path: COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace")) for path in sources}
    taken = {name for text in texts.values() for name in _inputs(text)}
    problems = [
        f"{path.name} takes {name}, which does not exist; run `make repro` or take the line out"
        for path, text in texts.items()
        for name in _inputs(text)
        if not any((place / name).exists() for place in (folder, project))
    ]
    wanted = [path for path in results if path.endswith(".tex")]
    problems += [
        rf"no file takes {path}; add \result{{{path.removesuffix('.tex')}}} to {folder.name}/appendix.tex"
        for path in wanted
        if path not in taken
    ]
    for path, text in texts.items():
        problems += [
            rf"{path.name} uses \{name}, which the results do not have" for name in _unknown_macros(text, values)
        ]
        problems += [f"{path.name} line {line}: the number {found} is typed" for line, found in _typed_numbers(text)]
    return problems


def defined_macros(project: Path, results: Iterable[str]) -> dict[str, str]:
    """All macros of the results with their values."""
    found: dict[str, str] = {}
    for path in results:
        if path.endswith(".tex") and (project / path).exists():
            found |= macros((project / path).read_text(encoding="utf-8"))
    return found


def _inputs(text: str) -> list[str]:
    """Files that a source takes, with their suffix."""
    return [name if name.endswith(".tex") else f"{name}.tex" for name in INPUT.findall(text)]


def _unknown_macros(text: str, values: Mapping[str, str]) -> list[str]:
    """Macros that nobody defines and that begin with the same word as one of the results'."""
    own = {name for pair in DEFINED.findall(text) for name in pair if name}
    used = dict.fromkeys(WORD.findall(text))
    begins = {_first_word(name) for name in values}
    return [name for name in used if _first_word(name) in begins and name not in values and name not in own]


def _first_word(name: str) -> str:
    return name[:1] + re.split(r"[A-Z]", name[1:])[0]


def _typed_numbers(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in NUMBER.findall(NO_PROSE.sub("", line)):
            yield number, found
