"""Origin of a result: stage, notebook, parameters, inputs, revision, and what changed since."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from ovrag_core.base import Frozen, ResultError
from ovrag_core.publish.stages import Parameter, Stage, StageFile, changes, git_lines, read_stages, shown, upstream

MACRO = re.compile(r"\\newcommand\{\\([A-Za-z]+)\}\{(.*)\}")
LABEL = re.compile(r"\\label\{([^}]*)\}")


class Provenance(Frozen):
    """Everything that a result rests on.

    `value` is that of a macro; `parameters` are those of the stage and of all that it rests on, by stage; `revision` is
    the commit in which the results were recorded.
    """

    asked: str
    path: str
    value: str | None
    output: StageFile
    stage: Stage
    above: tuple[str, ...]
    parameters: dict[str, tuple[Parameter, ...]]
    changes: tuple[str, ...]
    revision: str

    @property
    def state(self) -> str:
        """The result's state in a few words."""
        if self.output.recorded is None:
            return "not recorded: its stage was never run, or has made it only since"
        state = self.output.files.get(self.path, self.output.state)
        if state == "missing":
            return "missing"
        if state == "changed":
            return "EDITED: not what its stage wrote"
        return "STALE" if self.changes else "up to date"


def provenance(asked: str, project: Path) -> Provenance:
    """Trace a file that the pipeline makes to its origin; `asked` may also be a macro's name, a LaTeX label or a stage.

    Raises ResultError for what the pipeline does not make.
    """
    stages = read_stages(project)
    path, value = _found(asked, project, stages)
    maker = _maker(path, stages)
    if maker is None:
        near = get_close_matches(asked.removeprefix("\\"), sorted(_names(project, stages)), n=3, cutoff=0.7)
        meant = f"; near it: {', '.join(near)}" if near else ""
        raise ResultError(
            f"{asked} is not made by the pipeline; name a file of tables/, figures/ or reports/, a macro, a "
            f"label or a stage{meant}"
        )
    stage, output = maker
    above = upstream(stages, stage.name)
    return Provenance(
        asked=asked,
        path=path,
        value=value,
        output=output,
        stage=stage,
        above=tuple(s.name for s in above if s is not stage),
        parameters={s.name: s.parameters for s in above if s.parameters},
        changes=tuple(changes(stages, stage.name)),
        revision=" ".join(git_lines(project, "log", "-1", "--format=%h of %cs, %s", "--", stage.lock)),
    )


def macros(*paths: Path) -> dict[str, str]:
    """Macros by name with their values, from files that `report.numbers` wrote."""
    lines = [line for path in paths for line in text_of(path).splitlines()]
    return {match[1]: match[2] for line in lines if (match := MACRO.fullmatch(line))}


def text_of(path: Path) -> str:
    """The text of a file; empty where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def provenance_text(found: Provenance) -> str:
    """The provenance for people: the answer first, whether the result is up to date and what has changed since."""
    stage, output = found.stage, found.output
    lines = [f"{found.asked}{f' = {found.value}' if found.value is not None else ''}", f"  {'state':<10} {found.state}"]
    if found.changes:
        lines += [f"  changed since; `{stage.remedy}` brings the result up to date:"]
        lines += [*(f"    {change}" for change in found.changes), ""]
    page = next((item.path for item in stage.outputs if item.path.endswith(".html")), None)
    of_folder = f", of the folder {output.path}" if output.path != found.path else ""
    rows = {
        "file": found.path if found.path != found.asked else "",
        "hash": f"md5 {output.recorded or 'none'}{of_folder}",
        "stage": f"{stage.name}: {stage.description}",
        "notebook": f"{stage.notebook}, as executed{f': {page}' if page else ' not in git'}" if stage.notebook else "",
        "command": stage.command,
        "rests on": ", ".join(found.above),
        "revision": found.revision or f"none: {stage.lock} is not in git",
    }
    lines += [f"  {name:<10} {text}" for name, text in rows.items() if text]
    for maker, parameters in found.parameters.items():
        lines += ["", f"parameters of {maker}", *map(_parameter_line, parameters)]
    return "\n".join([*lines, "", "inputs (md5)", *map(_input_line, stage.inputs)])


def _parameter_line(parameter: Parameter) -> str:
    now = f"{parameter.difference}  CHANGED" if parameter.changed else f"= {shown(parameter.now)}"
    return f"  {parameter.name} {now}"


def _input_line(item: StageFile) -> str:
    origin = f", made by {item.stage}" if item.stage else ""
    state = {"same": "same", "missing": "not here"}.get(item.state, item.state.upper())
    return f"  {item.recorded or 'none':<36} {item.path} ({state}{origin})"


def _found(asked: str, project: Path, stages: Mapping[str, Stage]) -> tuple[str, str | None]:
    """The path within the project of what was asked for, the first output of a stage, and a macro's value."""
    if asked in stages:
        return stages[asked].outputs[0].path, None
    for path in (path for path in _files(stages) if path.endswith(".tex")):
        if (value := macros(project / path).get(asked.removeprefix("\\"))) is not None:
            return path, value
        if asked in LABEL.findall(text_of(project / path)):
            return path, None
    root, file = project.resolve(), Path(asked).resolve()
    within = file.relative_to(root).as_posix() if file.is_relative_to(root) else asked
    copied = ["/".join(file.parts[-depth:]) for depth in (4, 3, 2)]  # a thesis's file is a copy of the result so named
    return next((path for path in (within, asked, *copied) if _maker(path, stages)), asked), None


def _files(stages: Mapping[str, Stage]) -> list[str]:
    """The paths of all results."""
    return [path for stage in stages.values() for item in stage.outputs for path in item.files or [item.path]]


def _names(project: Path, stages: Mapping[str, Stage]) -> set[str]:
    """All that can be asked for."""
    files = _files(stages)
    tex = [path for path in files if path.endswith(".tex")]
    labels = {label for path in tex for label in LABEL.findall(text_of(project / path))}
    return {*stages, *files, *labels, *macros(*(project / path for path in tex))}


def _maker(path: str, stages: Mapping[str, Stage]) -> tuple[Stage, StageFile] | None:
    """The stage that makes a file, and the output that the file is or lies in."""
    return next(((stage, item) for stage in stages.values() for item in stage.outputs if item.holds(path)), None)
