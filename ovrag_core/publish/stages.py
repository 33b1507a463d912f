"""The pipeline as DVC knows it: stages, what they depend on and make, and what of that has changed since they ran."""

import subprocess
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import networkx
from dvc.dependency.param import ParamsDependency
from dvc.exceptions import DvcException
from dvc.output import Output as DvcOutput
from dvc.repo import Repo
from dvc.stage import Stage as DvcStage
from dvc.utils.flatten import flatten
from pydantic import Field

from ovrag_core.base import Frozen, ResultError

LOCK = "dvc.lock"
State = Literal["same", "changed", "missing", "not recorded"]


class StageFile(Frozen):
    """A file or folder that a stage depends on or makes; `recorded` is DVC's MD5 of when the stage last ran.

    `stage` is the one that makes it, if any. `files` holds the state of each file of an output that is in git, by path.
    """

    path: str
    recorded: str | None
    state: State
    stage: str | None = None
    in_git: bool = False
    files: dict[str, State] = Field(default_factory=dict)

    def holds(self, path: str) -> bool:
        """True for the output itself and for what lies in it; files in git must be there or known to git."""
        return path == self.path or path in self.files or (not self.in_git and path.startswith(f"{self.path}/"))


class Parameter(Frozen):
    """A parameter of a stage: its value when the stage last ran, and now; `new` where none was recorded."""

    name: str
    recorded: Any = None
    now: Any = None
    new: bool = False

    @property
    def changed(self) -> bool:
        """True where the stage would run with another value now."""
        return self.new or bool(self.recorded != self.now)

    @property
    def difference(self) -> str:
        """Former value and present value, in words."""
        return f"was {'not recorded' if self.new else shown(self.recorded)}, is {shown(self.now)}"


class Stage(Frozen):
    """A stage of a pipeline; `needs` names the stages whose outputs it reads, `lock` the file that records its runs."""

    name: str
    lock: str
    description: str
    command: str
    command_changed: bool
    needs: tuple[str, ...]
    inputs: tuple[StageFile, ...]
    parameters: tuple[Parameter, ...]
    outputs: tuple[StageFile, ...]

    @property
    def notebook(self) -> str | None:
        """The notebook that the stage executes, if it does."""
        return next((word for word in self.command.split() if word.endswith(".ipynb")), None)

    @property
    def remedy(self) -> str:
        """The command that makes its outputs anew: the stages on data of others have a pipeline of their own."""
        return "make repro" if self.lock == LOCK else "make external"


def read_stages(project: Path) -> dict[str, Stage]:
    """All stages by name, in the order of `dvc.yaml`, those of other pipelines last, compared with what is on disk.

    Raises ResultError where the folder holds no pipeline, or one that DVC cannot read.
    """
    try:
        with Repo(str(project)) as repo:
            stages: list[DvcStage] = sorted(repo.index.stages, key=lambda stage: _lock(stage) != LOCK)
            makers = {out.def_path: stage.name for stage in stages for out in stage.outs}
            needs = repo.index.graph.has_edge
            return {
                stage.name: _stage(stage, makers, tuple(other.name for other in stages if needs(stage, other)))
                for stage in stages
            }
    except DvcException as error:
        reason = " ".join(str(error).split())
        raise ResultError(
            f"the pipeline of {project} cannot be read: {reason}; mend what it names, or dvc.yaml"
        ) from None


def upstream(stages: Mapping[str, Stage], name: str) -> list[Stage]:
    """The stage and all that it rests on, in the pipeline's order."""
    needs = networkx.DiGraph({stage.name: stage.needs for stage in stages.values()})
    reached = {name, *networkx.descendants(needs, name)}
    return [stage for stage in stages.values() if stage.name in reached]


def changes(stages: Mapping[str, Stage], name: str) -> list[str]:
    """List the reasons why the results of a stage are stale, with the stage concerned first; empty if they are not.

    A reason is a change for the stage, or for a stage that it rests on. What another stage makes and is only absent
    (bulk that a fresh clone does not have) is no change.
    """
    return [f"{stage.name}: {reason}" for stage in upstream(stages, name) for reason in _changed(stage)]


def _changed(stage: Stage) -> Iterator[str]:
    if not any(item.recorded for item in stage.outputs):
        yield "was never run"
        return
    if stage.command_changed:
        yield "its command changed"
    yield from (f"parameter {item.name} {item.difference}" for item in stage.parameters if item.changed)
    reasons = {"changed": "changed", "not recorded": "was not an input then", "missing": "is gone"}
    for item in stage.inputs:
        if item.state in reasons and not (item.state == "missing" and item.stage):
            yield f"{item.path} {reasons[item.state]}"


def shown(value: object) -> str:
    """A parameter's value as params.yaml has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(shown, value))}]" if isinstance(value, list | tuple) else str(value)


def _lock(stage: DvcStage) -> str:
    """The path of the file that records a stage's runs, within the project."""
    return Path(stage.path_in_repo).with_name(LOCK).as_posix()


def _stage(stage: DvcStage, makers: Mapping[str, str], needs: tuple[str, ...]) -> Stage:
    inputs = [dep for dep in stage.deps if not isinstance(dep, ParamsDependency)]
    parameters = [_parameters(dep) for dep in stage.deps if isinstance(dep, ParamsDependency)]
    commands = [stage.cmd or ""] if isinstance(stage.cmd, str) else stage.cmd or []
    return Stage(
        name=stage.name,
        lock=_lock(stage),
        description=stage.desc or "",
        command=" ".join(" && ".join(commands).split()),
        command_changed=bool(getattr(stage, "cmd_changed", False)),
        needs=needs,
        inputs=tuple(_item(dep, _maker(dep.def_path, makers)) for dep in inputs),
        parameters=tuple(chain.from_iterable(parameters)),
        outputs=tuple(_with_files(out, _item(out, stage.name), _lock(stage)) for out in stage.outs),
    )


def _maker(path: str, makers: Mapping[str, str]) -> str | None:
    """The stage that makes an input, or the first of those that make what lies in it."""
    return makers.get(path) or next((name for output, name in makers.items() if output.startswith(f"{path}/")), None)


def _item(item: DvcOutput, stage: str | None) -> StageFile:
    recorded = item.hash_info.value if item.hash_info else None
    state: State = "same"
    if not item.exists:
        state = "missing"
    elif recorded is None:
        state = "not recorded"
    elif item.workspace_status():
        state = "changed"
    return StageFile(path=item.def_path, recorded=recorded, state=state, stage=stage, in_git=not item.use_cache)


def _with_files(out: DvcOutput, item: StageFile, lock: str) -> StageFile:
    """The output with the state of each of its files.

    DVC records one hash for a folder. Where that is not the folder's any more, a file is its stage's if it is as in the
    last commit of its `lock`; where none can be told from what the stage wrote, all of them count as changed.
    """
    project = Path(out.repo.root_dir)
    if not item.in_git:
        return item
    whole = project / item.path
    inside = sorted(file.relative_to(project).as_posix() for file in whole.rglob("*") if file.is_file())
    files = inside if whole.is_dir() else [item.path] if whole.exists() else []
    if item.state != "changed":
        names = files or ([item.path] if Path(item.path).suffix else [])
        return item.model_copy(update={"files": dict.fromkeys(names, item.state)})
    revision = next(iter(git_lines(project, "log", "-1", "--format=%H", "--", lock)), "")
    committed = set(git_lines(project, "ls-tree", "-r", "--name-only", revision, item.path)) if revision else set()
    untouched = committed - set(git_lines(project, "diff", "--name-only", "--relative", revision, "--", item.path))
    states: dict[str, State] = dict.fromkeys(sorted(committed.difference(files)), "missing")
    states |= {name: "same" if name in untouched else "changed" for name in files}
    if set(states.values()) == {"same"}:
        states = dict.fromkeys(states, "changed")
    return item.model_copy(update={"files": states})


def git_lines(project: Path, *arguments: str) -> list[str]:
    """Return the lines of git's answer; none where git, the repository or what is asked for is missing."""
    command = ["git", "-c", "core.quotePath=false", *arguments]
    try:
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def _parameters(dependency: ParamsDependency) -> Iterator[Parameter]:
    recorded, now = flatten(dependency.hash_info.value or {}), flatten(dependency.read_params())
    for name in dict.fromkeys([*now, *recorded]):
        yield Parameter(name=name, recorded=recorded.get(name), now=now.get(name), new=name not in recorded)
