"""Check of a chapter against the results: its inputs, its macros, and numbers typed where a macro belongs.

A study's results lie in `tables/<study>`, `figures/<study>` and, what depends on the machine's speed,
`tables/latency_<study>`, those of the samples and those on data of others in a folder each: the chapter may take
either. Where `\\study{<study>}` stands in it, LaTeX sets `study_<study>.tex` if the results are there.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from ovrag_core.publish.origins import LABEL, macros, text_of

INPUT = re.compile(r"\\(?:input|include|result)\{([^}#]*)\}")
STUDY = re.compile(r"\\study\{([^}#]*)\}")
SECTION = "study_"
EXPERIMENT = ("consistency", "latency", "contamination", "open")  # folders of results that are no study's
APART = "latency_"
REFERENCE = re.compile(r"\\[a-zA-Z]*ref\*?\{((?:tab|fig):[^}#]*)\}")
WORD = re.compile(r"\\([A-Za-z]+)")
NUMBERS = re.compile(r"tables/.*/numbers\.tex")
DEFINED = re.compile(r"\\(?:re|provide)?newcommand\*?\{?\\([A-Za-z]+)|\\def\\([A-Za-z]+)|\\ifdefined\\([A-Za-z]+)")
COMMENT = re.compile(r"(?<!\\)%.*")
# Arguments that hold no prose: names of files, labels, sizes, and the options in brackets before them.
NO_PROSE = re.compile(
    r"\\(?:input|include|result|study|includegraphics|label|[a-zA-Z]*ref|cite[a-z]*|usepackage|documentclass|geometry|"
    r"graphicspath|setlength|setcounter|addtolength|[a-z]*command|vspace|hspace|url|href|begin|end|def|pdf[a-z]+)"
    r"(?![A-Za-z])\*?(?:\[[^\]]*\]|\{[^}]*\})*(?:=-?\d+)?"
)
NUMBER = re.compile(r"(?<![A-Za-z\d.#])\d+(?:[.,]\d+)*")  # F1 and the like are names


def chapter_problems(folder: Path, results: Iterable[str], project: Path) -> list[str]:
    """List the problems that keep the chapter in `folder` from saying what the results say, one sentence each.

    `results` are paths in the project of the tables, figures and macros that must be taken.
    Reported: inputs that do not exist, results that no file takes, references to tables and figures that are none,
    macros that look like ours and are not defined, typed numbers. Sections of studies without results are not set, and
    therefore not read.
    """
    wanted = [path for path in results if path.endswith(".tex")]
    sections = {f"{SECTION}{study}" for path in wanted if (study := study_of(path))}
    texts = {path.name: COMMENT.sub("", text_of(path)) for path in _sources(folder, sections)}
    taken = {name: _inputs(text, wanted, sections) for name, text in texts.items()}
    values = macros(*(project / path for path in wanted))
    labels = set(LABEL.findall("\n".join([*texts.values(), *(text_of(project / path) for path in wanted)])))
    return [
        *(f"{name} {fault}" for name, paths in taken.items() for fault in _missing(paths, folder, project)),
        *_untaken(wanted, chain.from_iterable(taken.values()), folder.name),
        *(f"{name} {fault}" for name, text in texts.items() for fault in _faults(text, labels, values)),
    ]


def _sources(folder: Path, sections: Collection[str]) -> list[Path]:
    """The files of the chapter, of its sections on studies those alone that are set."""
    return [path for path in sorted(folder.glob("*.tex")) if path.stem in sections or not path.stem.startswith(SECTION)]


def _missing(paths: Iterable[str], *folders: Path) -> Iterator[str]:
    """Yield a fault for each input that is in none of the folders."""
    for path in paths:
        if not any((folder / path).exists() for folder in folders):
            remedy = "run `make repro`" if "/" in path else "write it"
            yield f"takes {path}, which does not exist; {remedy} or take the line out"


def _untaken(wanted: Iterable[str], taken: Iterable[str], chapter: str) -> Iterator[str]:
    """Yield a sentence for each result that no source takes, on whichever data it was made."""
    included = set(map(_any_data, taken))
    for path in wanted:
        if _any_data(path) not in included:
            yield f"no file takes {path}; add {_line(path, chapter)}"


def _faults(text: str, labels: Collection[str], values: Mapping[str, str]) -> Iterator[str]:
    """Yield the faults of the text of a source itself, without the name of its file."""
    for name in dict.fromkeys(REFERENCE.findall(text)):
        if name not in labels:
            yield f"refers to {name}, which no table or figure is labelled"
    defined = {name for names in DEFINED.findall(text) for name in names} | values.keys()
    begins = {_begin(name) for name in values}
    for name in dict.fromkeys(WORD.findall(text)):  # ours begin with a word that one of the results' begins with
        if name not in defined and _begin(name) in begins:
            yield rf"uses \{name}, which the results do not have"
    for line, typed in enumerate(text.splitlines(), 1):
        for number in NUMBER.findall(NO_PROSE.sub("", typed)):
            yield f"line {line}: the number {number} is typed"


def _begin(macro: str) -> str:
    """The first word of a macro's name."""
    return macro[:1] + re.split(r"[A-Z]", macro[1:])[0]


def _inputs(text: str, wanted: Iterable[str], sections: Collection[str]) -> list[str]:
    """Files that a source takes, with their suffix; of studies those that have results."""
    names = [name if name.endswith(".tex") else f"{name}.tex" for name in INPUT.findall(text)]
    studies = [study for study in STUDY.findall(text) if f"{SECTION}{study}" in sections]
    names += [path for path in wanted if NUMBERS.fullmatch(path) and study_of(path) in studies]
    return names + [f"{SECTION}{study}.tex" for study in studies]


def _any_data(path: str) -> str:
    """Return the path of a result of a study without the folder that says on which data it was made."""
    segments = path.split("/")
    return "/".join((*segments[:2], segments[-1])) if len(segments) > 3 and study_of(path) else path


def study_of(path: str) -> str | None:
    """Return the study whose result a path names; None for those of the experiment on loans."""
    _, *folder, _ = path.split("/")
    study = folder[0].removeprefix(APART) if folder else ""
    return study if study and study not in EXPERIMENT else None


def _line(path: str, chapter: str) -> str:
    """Name the line that takes a result, and the file where that line belongs."""
    study = study_of(path)
    if study and NUMBERS.fullmatch(path):
        return rf"\study{{{study}}} to {chapter}/studies.tex"
    return rf"\result{{{path.removesuffix('.tex')}}} to {chapter}/{SECTION + study if study else 'appendix'}.tex"
