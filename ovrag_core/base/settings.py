"""`params.yaml` as one validated object; an unknown key is an error that names the nearest known one."""

import difflib
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ovrag_core.base.errors import QuestionError, SettingsError
from ovrag_core.base.records import read_yaml

ArmName = Literal["plain", "ovrag", "plain_scoped", "ovrag_scoped", "ovrag_evidence"]
ARM_NAMES: tuple[ArmName, ...] = get_args(ArmName)
GENERATED = "data/generated"  # stands for the generator where the pipeline follows `corpus.source`

_MOST_HINTS = 3
_REMEDY = "run from the project's folder or name the file"
Positive = Annotated[int, Field(gt=0)]
NotNegative = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
P = TypeVar("P", bound=BaseModel)


class Part(BaseModel, frozen=True, extra="forbid"):
    """A section of the settings: immutable, unknown keys refused."""


class Corpus(Part):
    """Choice of contracts: generated ones, or a folder of the user's own."""

    source: str = GENERATED
    ground_truth: Path = Path("data/unlabelled.json")
    contracts: Positive = 100
    seed: NotNegative = 42
    wording: Literal["plain", "varied"] = "plain"

    @property
    def is_generated(self) -> bool:
        """True where the generator makes the contracts, False for a folder of one's own."""
        return self.source == GENERATED


class Chunking(Part):
    """Method of splitting documents; sizes are in characters."""

    method: Literal["recursive", "fixed", "paragraph"] = "recursive"
    size: Positive = 1000
    overlap: NotNegative = 200


class Retrieval(Part):
    """Number of chunks that a question gets, and what pooled arms search.

    `growing`: the contracts up to the asked one, in order. The published run did so: its collection grew while asked.
    `whole`: all contracts. A question that names none then retrieves the same chunks every time.
    """

    top_k: Positive = 3
    pool: Literal["growing", "whole"] = "growing"


class Options(Part):
    """The `llm` section of the settings. `offline` uses no model; `replay` needs neither key nor network."""

    provider: Literal["offline", "openai", "replay"] = "offline"
    model: Annotated[str, Field(min_length=1)] = "gpt-4o"
    base_url: str = "https://api.openai.com/v1"
    key_variable: Annotated[str, Field(min_length=1)] = "OPENAI_API_KEY"
    store: Path | None = Path("data/replies/main.jsonl")
    retry_failures: bool = False
    structured: Literal["json_schema", "json_object", "text"] = "json_schema"
    max_tokens: Positive = 4096
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    seed: int | None = 42
    concurrency: Positive = 8
    retries: NotNegative = 5
    seconds_per_attempt: Seconds = 60.0
    seconds_per_call: Seconds = 300.0
    prices: Path = Path("data/prices.yaml")
    budget_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class Extraction(Part):
    """Method that turns text into triples, and the amount of text that a model reads at once, in characters.

    `auto`: the clause reader offline, `hybrid` with a model. `hybrid`: triples of a model, joined with the reader's.
    `answers`: so only for the triples of answers; those of documents are the reader's. `form` is what a model writes:
    `short` a form of parties and terms, `triples` free statements about everything. `support` is what a statement of a
    class needs: a passage that means it, or any quote that stands in the text.
    """

    extractor: Literal["auto", "reader", "chat", "hybrid", "answers"] = "auto"
    form: Literal["short", "triples"] = "short"
    support: Literal["meaning", "quote"] = "meaning"
    window: Annotated[int, Field(ge=2000)] = 24_000


class Experiment(Part):
    """Extent of a run: arms × contracts × questions; None means all."""

    run: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = "main"
    arms: tuple[ArmName, ...] = ARM_NAMES
    contracts: tuple[str, ...] | None = None
    questions: tuple[str, ...] | None = None
    corrections: NotNegative = 3


class Ontology(Part):
    """The bundled ontology of loans, or with `domain` a folder of another domain: its ontology, rules and form.

    A model then reads by the form alone.
    """

    domain: Path | None = None


class Validation(Part):
    """The reasoner, the rule settings, and the limits of one check."""

    reasoner: Literal["hermit", "pellet"] = "hermit"
    rules: Path = Path("ontologies/rules.yaml")
    seconds_per_check: Annotated[float, Field(gt=0)] = 10
    heap_megabytes: Positive = 1024


class Evaluation(Part):
    """Run that is evaluated, and the way intervals are made."""

    run: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = "main"
    bertscore_model: str = "bundled"
    bootstrap_samples: Positive = 2000
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95


class Figures(Part):
    """Sizes of figures, in inches."""

    text_width_inches: Annotated[float, Field(gt=0)] = 5.9


class Settings(Part):
    """All parameters. Paths are relative to the folder of the parameter file's project."""

    corpus: Corpus = Corpus()
    questions: Path = Path("data/questions.yaml")
    chunking: Chunking = Chunking()
    retrieval: Retrieval = Retrieval()
    llm: Options = Options()
    extraction: Extraction = Extraction()
    experiment: Experiment = Experiment()
    ontology: Ontology = Ontology()
    validation: Validation = Validation()
    evaluation: Evaluation = Evaluation()
    figures: Figures = Figures()
    results: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] = "samples"  # folder of the studies' results
    studies: dict[str, dict[str, Any]] = Field(default_factory=dict)  # each study knows its own

    @property
    def extractor(self) -> Literal["reader", "chat", "hybrid", "answers"]:
        """The extractor that is used, `auto` resolved."""
        if self.extraction.extractor == "auto":
            return "reader" if self.llm.provider == "offline" else "hybrid"
        return self.extraction.extractor


def study_settings(settings: Settings, study: str, model: type[P]) -> P:
    """The parameters `studies.<study>` as `model`. Raises SettingsError with the key that is unknown or bad."""
    try:
        return model.model_validate(settings.studies.get(study, {}))
    except ValidationError as error:
        raise SettingsError(_explain(error, model, ("studies", study))) from None


class Question(Part):
    """A question that is asked of every contract."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    topic: str = ""
    text: Annotated[str, Field(min_length=1)]


def load_settings(path: Path = Path("params.yaml"), overrides: dict[str, Any] | None = None) -> Settings:
    """Settings from a YAML file; `overrides` maps dotted keys (`corpus.contracts`) to values that replace the file's.

    Raises SettingsError, with the file and the key, for a missing file, broken YAML, an unknown key or a bad value,
    those of the studies with them. Where an override is at fault, `-S` is named and not the file.
    """
    values = read_yaml(path, SettingsError, _REMEDY)
    values = {} if values is None else values
    if not isinstance(values, dict):
        raise SettingsError(f"{path} must hold keys and values; compare it with the params.yaml of the project")
    settings = _settings_of(values, overrides or {})
    if isinstance(settings, str):
        source = path if _settings_of(values, {}) == settings else "-S"
        raise SettingsError(f"{source}: {settings}")
    return settings


def _settings_of(values: dict[str, Any], overrides: dict[str, Any]) -> Settings | str:
    """The settings of these values, overrides in their places; where that cannot be, the sentence that says why."""
    values = deepcopy(values)
    for key, value in overrides.items():
        _set_dotted(values, key, value)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        return _explain(error)
    chunking, llm, form, extractor = settings.chunking, settings.llm, settings.extraction.form, settings.extractor
    faults: list[str | None] = []
    if chunking.method != "paragraph" and chunking.overlap >= chunking.size:
        faults.append("chunking.overlap must be smaller than chunking.size")
    faults += [_study_problem(settings, study) for study in settings.studies]
    if llm.provider == "offline" and extractor != "reader":
        remedy = "set llm.provider to openai or replay, or choose reader"
        faults.append(f"extraction.extractor: {extractor} needs a model; {remedy}")
    if extractor == "chat" and form != "triples":
        remedy = "which a model alone must; choose triples, or hybrid"
        faults.append(f"extraction.form: {form} reads no kind of loan, {remedy}")
    if llm.provider == "replay" and llm.store is None:
        faults.append("llm.provider: replay needs a store of recorded replies; name its file in llm.store")
    return next(filter(None, faults), settings)


@cache
def installed_studies() -> dict[str, EntryPoint]:
    """The studies that are installed, by name: entry points that load a `study.settings.Study` in no time."""
    return {entry.name: entry for entry in sorted(entry_points(group="ovrag.studies"), key=lambda entry: entry.name)}


def load_study(name: str) -> Any:
    """The `study.settings.Study` of an installed study. Raises SettingsError where its entry point names none."""
    entry = installed_studies()[name]
    where = f"the study {name}, entry point {entry.value} of {entry.group}"
    try:
        study = entry.load()
        declared = study.settings.name
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"{where}, cannot be loaded ({error}); mend it, or run tools/setup.sh if it went") from None
    if declared != name:
        raise SettingsError(f"{where}, calls itself {declared} in its settings; give both one name")
    return study


def _study_problem(settings: Settings, study: str) -> str | None:
    """Describe the fault of `studies.<study>`: no study of that name, or what its own settings say."""
    studies = installed_studies()
    if study not in studies:
        near = difflib.get_close_matches(study, studies, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(studies) or 'none: run tools/setup.sh'}"
        return f"studies.{study} is no study; {hint}"
    try:
        load_study(study).settings.of(settings)
    except SettingsError as error:
        return str(error)
    return None


def load_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a YAML list of `{id, topic, text}`. Raises QuestionError for anything else."""
    values = read_yaml(path, QuestionError, _REMEDY)
    if not isinstance(values, list) or not values:
        raise QuestionError(f"{path} must be a list of questions, each with id, topic and text")
    try:
        questions = tuple(TypeAdapter(list[Question]).validate_python(values))
    except ValidationError as error:
        raise QuestionError(f"{path}: {_explain(error, Question)}") from None
    ids = [question.id for question in questions]
    if doubled := {id_ for id_ in ids if ids.count(id_) > 1}:
        raise QuestionError(f"{path}: the id {sorted(doubled)[0]} is used twice; give each question its own")
    return questions


def _set_dotted(values: dict[str, Any], key: str, value: Any) -> None:
    *parents, leaf = key.split(".")
    for depth, parent in enumerate(parents, 1):
        values = values.setdefault(parent, {})
        if not isinstance(values, dict):
            raise SettingsError(f"-S: unknown key {key}: {'.'.join(parents[:depth])} holds a value and no keys")
    values[leaf] = value


def _explain(error: ValidationError, model: type[BaseModel] = Settings, within: tuple[str, ...] = ()) -> str:
    """The first fault of values as a clause that names the key; for an unknown one the nearest that is known."""
    problem = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    where = ".".join(str(key) for key in (*within, *problem["loc"]))
    if problem["type"] == "extra_forbidden":
        near = _nearest_keys(where, _known_keys(model, within))
        if not near and model is Settings:
            near = _nearest_keys(where, _keys_of_studies())
        return f"unknown key {where}{f'; did you mean {near}?' if near else ''}"
    own = "; a server of your own is openai, with its address in llm.base_url" if where == "llm.provider" else ""
    return f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}, not {problem.get('input')!r}{own}"


def _nearest_keys(key: str, known: Iterable[str]) -> str:
    """Return the known keys whose last word is most like that of `key`: of its section, else of any; empty for none."""
    section, _, word = key.rpartition(".")
    by_word: dict[str, list[str]] = {}
    for name in known:
        by_word.setdefault(name.rpartition(".")[2], []).append(name)
    near = difflib.get_close_matches(word, by_word, n=1)
    names = by_word[near[0]] if near else []
    return " or ".join([name for name in names if name.rpartition(".")[0] == section] or names[:_MOST_HINTS])


def _known_keys(model: type[BaseModel], within: tuple[str, ...] = ()) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield ".".join((*within, name))
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _known_keys(field.annotation, (*within, name))


def _keys_of_studies() -> Iterator[str]:
    for study in installed_studies():
        yield from _known_keys(load_study(study).settings, ("studies", study))
