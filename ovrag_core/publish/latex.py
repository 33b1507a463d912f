"""LaTeX run on a chapter: `python -m ovrag_core.publish.latex thesis/main.tex`. What goes wrong is one sentence."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ovrag_core.base import OvragError, ResultError

PACKAGES = "texlive-latex-recommended texlive-latex-extra latexmk lmodern"
INSTALL = f"install it (Debian: apt-get install {PACKAGES})"
BUILD = "build"
_SECONDS = 300

_NO_FILE = re.compile(r"Error: File `([^']+)' not found")
_NO_FONT = re.compile(r"Font [^=]+=(\S+?) .*not loadable|\((?:file|font) (\S+?)\): (?:cannot open|Font .* not found)")
_PLACE = re.compile(r"^(?:\./)?(.+?:\d+): (.+)$", re.M)
_MACRO = re.compile(r"Undefined control sequence.*?\n(?:.*\n)??l\.\d+ .*?(\\[A-Za-z]+)\s*$", re.S | re.M)
_OPENED = re.compile(r"\(\S*?((?:tables|figures)/(?:\w+/)?[\w-]+\.tex)")
_OVERFULL = re.compile(r"(?:Overfull \\[hv]box \(|LaTeX Warning: Float too large for page by )([\d.]+)pt")
_RESULT = re.compile(r"(?:tables|figures)/")


def compile_pdf(main: Path) -> Path:
    """The PDF of a LaTeX file, in the folder `build` beside it; what the document runs is nothing but LaTeX.

    Raises ResultError, with what is missing or wrong and what to do, where TeX, a package, a font or a result is
    missing or the document has an error.
    """
    if not main.is_file():
        raise ResultError(f"{main} does not exist; name the LaTeX file of the thesis")
    for program in ("latexmk", "pdflatex"):
        if shutil.which(program) is None:
            raise ResultError(f"{program} is not found; {INSTALL}")
    options = ["-norc", "-pdf", f"-outdir={BUILD}", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error"]
    command = ["latexmk", *options, "-latexoption=-no-shell-escape", "-silent", main.name]
    whole_lines = {**os.environ, "max_print_line": "10000"}
    try:
        done = subprocess.run(
            command, cwd=main.parent, env=whole_lines, capture_output=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ResultError(f"{main} was not set within {_SECONDS} seconds; look for a loop in it") from None
    pdf = main.parent / BUILD / f"{main.stem}.pdf"
    if done.returncode or not pdf.exists():
        raise ResultError(f"{main}: {explain(log_of(main))}")
    return pdf


def log_of(main: Path) -> str:
    """LaTeX's log of the last run; empty where there is none."""
    path = main.parent / BUILD / f"{main.stem}.log"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def explain(log: str) -> str:
    """Explain the first complaint of a log, and its remedy, in one sentence."""
    if match := _NO_FILE.search(log):
        if _RESULT.search(match[1]):
            return f"{match[1]} is missing; run `make repro`, which makes it, or take the line out"
        return f"the LaTeX file {match[1]} is not installed; {INSTALL}"
    if match := _NO_FONT.search(log):
        return f"the font {match[1] or match[2]} is not installed; {INSTALL}"
    if match := _MACRO.search(log):
        location = _PLACE.search(log)
        where = f"{location[1]}: " if location else ""
        return f"{where}the macro {match[1]} is not defined; a macro of tables/*/numbers*.tex comes with `make repro`"
    if match := _PLACE.search(log):
        return f"{match[1]}: {match[2]}; mend that line"
    complaint = next((line for line in log.splitlines() if line.startswith("!")), "")
    return f"LaTeX stopped{': ' + complaint.lstrip('! ') if complaint else ' without a message'}; see {BUILD}/*.log"


def overfull(log: str, points: float = 1.0) -> list[str]:
    """Complaints of a log about what sticks out by more than so many points, with the result that holds it."""
    complaints, within = [], "the text"
    for line in log.splitlines():
        within = next(reversed(_OPENED.findall(line)), within)
        match = _OVERFULL.match(line)
        if match and float(match[1]) > points:
            complaints.append(f"{within}: {line}")
    return complaints


def main() -> None:
    """Set the file that the command line names; one line on stderr and exit code 2 where it cannot be."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("thesis/main.tex")
    try:
        print(compile_pdf(source))
        print("".join(f"{complaint}\n" for complaint in overfull(log_of(source))), file=sys.stderr, end="")
    except OvragError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
