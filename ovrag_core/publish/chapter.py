"""Check of a chapter against the results: its inputs, its macros, and numbers typed where a macro belongs.

A study's results lie in folders of its name, `tables/<study>` and `figures/<study>`. What depends on the machine's
speed lies in `tables/latency_<study>`, and the study's section in `study_<study>.tex`. In each of them those of the
samples and those on data of others have a folder of their own, and the chapter may take either. Where
`\\study{<study>}` stands in the chapter, LaTeX sets that section if the results are there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from ovrag_core.publish.origins import LABEL, macros

INPUT = re.compile(r"\\(?:input|include|result)\{([^}#]*)\}")
STUDY = re.compile(r"\\study\{([^}#]*)\}")
SECTION = "study_"
EXPERIMENT = ("consistency", "latency", "contamination", "open")  # folders of results that are no study's
APART = "latency_"
REFERENCE = re.compile(r"\\[a-zA-Z]*ref\*?\{((?:tab|fig):[^}#]*)\}")
WORD = re.compile(r"\\([A-Za-z]+)")
DEFINED = re.compile(r"\\(?:re|provide)?newcommand\*?\{?\\([A-Za-z]+)|\\def\\([A-Za-z]+)|\\ifdefined\\([A-Za-z]+)")
COMMENT = re.compile(r"(?<!\\)%.*")
# Arguments that hold no prose: names of files, labels, sizes, and the options in brackets before them.
NO_PROSE = re.compile(
    r"\\(?:input|include|result|study|includegraphics|label|[a-zA-Z]*ref|cite[a-z]*|usepackage|documentclass|geometry|"
    r"graphicspath|setlength|setcounter|addtolength|[a-z]*command|vspace|hspace|url|href|begin|end|def|pdf[a-z]+)"
    r"(?![A-Za-z])\*?(?:\[[^\]]*\]|\{[^}]*\})*(?:=-?\d+)?"
)
NUMBER = re.compile(r"(?<![A-Za-z\d.#])\d+(?:[.,]\d+)*")  # F1 and the like are names


def chapter_problems(folder: Path, results: Iterable[str], values: Mapping[str, str], project: Path) -> list[str]:
    """List the problems that keep the chapter in `folder` from saying what the results say, one sentence each.

    `results` are paths of tables, figures and macros that must be taken, `values` the macros that they define.
    Reported: inputs that do not exist, results that no file takes, references to tables and figures that are none,
    macros that look like ours and are not defined, typed numbers. Sections of studies without results are not set, and
    therefore not read.
    """
    wanted = [path for path in results if path.endswith(".tex")]
    present = {study for path in wanted if (study := study_of(path))}
    sources = [path for path in sorted(folder.glob("*.tex")) if _study(path.stem) in {None, *present}]
    texts = {path: COMMENT.sub("", _read(path)) for path in sources}
    inputs = {path: _inputs(text, wanted, present) for path, text in texts.items()}
    included = set(map(_any_data, chain.from_iterable(inputs.values())))
    problems = [problem for path, names in inputs.items() for problem in _absent_inputs(path, names, (folder, project))]
    problems += [
        f"no file takes {path}; add {_line(path, folder.name)}" for path in wanted if _any_data(path) not in included
    ]
    labels = _labels([*texts.values(), *map(_read, map(project.joinpath, wanted))])
    return problems + [
        f"{path.name} {fault}" for path, text in texts.items() for fault in _faults(text, labels, values)
    ]


def _absent_inputs(path: Path, names: Iterable[str], places: Sequence[Path]) -> Iterator[str]:
    for name in names:
        if not any((folder / name).exists() for folder in places):
            yield f"{path.name} takes {name}, which does not exist; {_remedy(name)} or take the line out"


def _faults(text: str, labels: Collection[str], values: Mapping[str, str]) -> Iterator[str]:
    """Yield the faults of the text of a source itself, without the name of its file."""
    for name in dict.fromkeys(REFERENCE.findall(text)):
        if name not in labels:
            yield f"refers to {name}, which no table or figure is labelled"
    for name in _unknown_macros(text, values):
        yield rf"uses \{name}, which the results do not have"
    for line, number in _typed_numbers(text):
        yield f"line {line}: the number {number} is typed"


def defined_macros(project: Path, results: Iterable[str]) -> dict[str, str]:
    """All macros of the results with their values."""
    defined: dict[str, str] = {}
    for path in results:
        if path.endswith(".tex") and (project / path).exists():
            defined |= macros((project / path).read_text(encoding="utf-8"))
    return defined


def _labels(texts: Iterable[str]) -> set[str]:
    return {label for text in texts for label in LABEL.findall(text)}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _study(stem: str) -> str | None:
    """The study whose section a source is, if it is one."""
    return stem.removeprefix(SECTION) if stem.startswith(SECTION) else None


def _inputs(text: str, wanted: Iterable[str], present: Collection[str]) -> list[str]:
    """Files that a source takes, with their suffix; of studies those that are present."""
    names = [name if name.endswith(".tex") else f"{name}.tex" for name in INPUT.findall(text)]
    studies = [study for study in STUDY.findall(text) if study in present]
    names += [path for path in wanted if _is_numbers(path) and study_of(path) in studies]
    return names + [f"{SECTION}{study}.tex" for study in studies]


def _is_numbers(path: str) -> bool:
    """True for a file of macros of a study."""
    return path.startswith("tables/") and path.endswith("/numbers.tex") and study_of(path) is not None


def _any_data(path: str) -> str:
    """Return the path of a result of a study without the folder that says on which data it was made."""
    segments = path.split("/")
    return "/".join((*segments[:2], segments[-1])) if len(segments) > 3 and study_of(path) else path


def _remedy(name: str) -> str:
    return "run `make repro`" if "/" in name else "write it"


def study_of(path: str) -> str | None:
    """Return the study whose result a path names; None for those of the experiment on loans."""
    _, *folder, _ = path.split("/")
    study = folder[0].removeprefix(APART) if folder else ""
    return study if study and study not in EXPERIMENT else None


def _line(path: str, chapter: str) -> str:
    """Name the line that takes a result, and the file where that line belongs."""
    study = study_of(path)
    if study and _is_numbers(path):
        return rf"\study{{{study}}} to {chapter}/studies.tex"
    return rf"\result{{{path.removesuffix('.tex')}}} to {chapter}/{SECTION + study if study else 'appendix'}.tex"


def _unknown_macros(text: str, values: Mapping[str, str]) -> list[str]:
    """Macros that nobody defines and that begin with the same word as one of the results'."""
    defined = {name for pair in DEFINED.findall(text) for name in pair if name}
    used = dict.fromkeys(WORD.findall(text))
    begins = {_first_word(name) for name in values}
    return [name for name in used if _first_word(name) in begins and name not in values and name not in defined]


def _first_word(name: str) -> str:
    return name[:1] + re.split(r"[A-Z]", name[1:])[0]


def _typed_numbers(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for typed in NUMBER.findall(NO_PROSE.sub("", line)):
            yield number, typed
