"""Parameter files: what is accepted, and what is said of what is not."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from ovrag_core.app.cli import main
from ovrag_core.base.errors import QuestionError, SettingsError
from ovrag_core.base.settings import (
    Part,
    Settings,
    installed_studies,
    load_questions,
    load_settings,
    load_study,
    study_settings,
)
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.study.settings import Study, StudySettings

RETRIEVAL_K = "studies.contract_review.retrieval.k"


def write(folder: Path, text: str) -> Path:
    path = folder / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_projects_parameter_file_names_every_key(project: Path) -> None:
    settings = load_settings(project / "params.yaml")
    named = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    of_studies = keys(named.pop("studies"))
    assert keys(named) | {"studies": {}} == keys(Settings().model_dump(mode="json"))
    assert of_studies == {study: keys(checked(study, settings).model_dump(mode="json")) for study in of_studies}


def checked(study: str, settings: Settings) -> Part:
    """The parameters of a study, by its own settings."""
    return installed_studies()[study].load().settings.of(settings)


def keys(values: dict) -> dict:
    return {name: keys(value) if isinstance(value, dict) else None for name, value in values.items()}


def test_an_override_replaces_the_files_value(tmp_path: Path) -> None:
    path = write(tmp_path, "corpus: {contracts: 7}\n")
    assert load_settings(path, {"corpus.contracts": 3}).corpus.contracts == 3
    assert load_settings(path, {"retrieval.top_k": 5}).retrieval.top_k == 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("corpus: {contract: 7}", "unknown key corpus.contract; did you mean corpus.contracts?"),
        ("experimnt: {}", "unknown key experimnt; did you mean experiment?"),
        ("zzz: 1", "unknown key zzz"),
        ("top_k: 5", "unknown key top_k; did you mean retrieval.top_k?"),
        ("corpus: {top_k: 5}", "unknown key corpus.top_k; did you mean retrieval.top_k?"),
        ("run: mine", "unknown key run; did you mean experiment.run or evaluation.run?"),
        ("alpha: 0.2", "did you mean studies.causal.loop.alpha or studies.policy.silence.alpha?"),
        ("corpus: {contracts: many}", "corpus.contracts: input should be a valid integer"),
        ("corpus: {contracts: 0}", "corpus.contracts: input should be greater than 0"),
        ("experiment: {arms: [ovrag, magic]}", "experiment.arms.1"),
        ("experiment: {run: ../../x}", "experiment.run"),
        ("chunking: {size: 100, overlap: 100}", "chunking.overlap must be smaller than chunking.size"),
        ("llm: {modell: x}", "unknown key llm.modell; did you mean llm.model?"),
        ("llm: {provider: chatty}", "llm.provider: input should be"),
        ("extraction: {extractor: chat}", "extraction.extractor: chat needs a model; set llm.provider"),
        ("extraction: {extractor: answers}", "extraction.extractor: answers needs a model; set llm.provider"),
        ("extraction: {extractor: hybrid}", "extraction.extractor: hybrid needs a model; set llm.provider"),
        ("llm: {provider: replay, store: null}", "replay needs a store of recorded replies"),
        ("corpus: [", "is not valid YAML at line"),
        ("- a list", "must hold keys and values"),
        ("studies: {contract_reviews: {}}", "studies.contract_reviews is no study; did you mean contract_review?"),
        ("studies: {zzz: {}}", "studies.zzz is no study; known are causal, contract_review"),
        ("studies: {contract_review: {nli: {arms: lexical}}}", "did you mean studies.contract_review.nli.arm?"),
        ("studies: {contract_review: {retrieval: {k: 0}}}", "contract_review.retrieval.k: input should be greater"),
        ("studies: {contract_review: 3}", "studies.contract_review: input should be a valid dictionary"),
        ("corpus: {contracts: 2026-11-31}", "is not valid YAML"),
    ],
)
def test_a_bad_parameter_is_one_sentence_with_the_key(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, text))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "params.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "extractor"),
    [
        ("{}", "reader"),
        ("llm: {provider: openai}", "hybrid"),
        ("llm: {provider: replay}", "hybrid"),
        ("{llm: {provider: openai}, extraction: {extractor: reader}}", "reader"),
        ("{llm: {provider: openai}, extraction: {extractor: chat, form: triples}}", "chat"),
    ],
)
def test_the_extractor_follows_the_provider_unless_it_is_named(tmp_path: Path, text: str, extractor: str) -> None:
    assert load_settings(write(tmp_path, text)).extractor == extractor


class OfAStudy(Part):
    """Parameters of some study."""

    size: int = 3


def test_a_study_has_parameters_of_its_own() -> None:
    assert study_settings(Settings(studies={"tides": {"size": 4}}), "tides", OfAStudy).size == 4
    assert study_settings(Settings(), "tides", OfAStudy).size == 3
    with pytest.raises(SettingsError, match=r"^unknown key studies.tides.sizes; did you mean studies.tides.size\?$"):
        study_settings(Settings(studies={"tides": {"sizes": 4}}), "tides", OfAStudy)


class Tides(StudySettings):
    """Parameters of a study that is installed beside the project's."""

    name: ClassVar[str] = "tides"
    height: int = 3


tides = Study(Tides, "typer:Typer")


def test_a_study_is_found_by_its_entry_point_and_checked_by_its_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the pipeline removes the outputs of a stage: `make checked` reads the settings and nothing of a study."""
    entry = EntryPoint("tides", f"{__name__}:tides", "ovrag.studies")
    monkeypatch.setattr("ovrag_core.base.settings.installed_studies", lambda: {"tides": entry})
    loaded = load_settings(write(tmp_path, "studies: {tides: {height: 4, experiments: {seed: 7}}}"))
    assert (Tides.of(loaded).height, Tides.of(loaded).experiments.plan) == (4, Resampling(seed=7))
    assert Tides.of(Tides.changed(loaded, height=5)) == Tides(height=5, experiments=Tides.of(loaded).experiments)
    with pytest.raises(SettingsError, match=r"^studies\.tides\.height: input should be a valid integer"):
        Tides.changed(loaded, height="high")
    for text, sentence in (
        ("{tides: {hight: 4}}", "params.yaml: unknown key studies.tides.hight; did you mean studies.tides.height?"),
        ("{tide: {height: 4}}", "params.yaml: studies.tide is no study; did you mean tides?"),
    ):
        with pytest.raises(SettingsError) as caught:
            load_settings(write(tmp_path, f"studies: {text}"))
        assert str(caught.value).endswith(sentence)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("tide", f"{__name__}:tides", "the study tide, .* calls itself tides in its settings; give both one name"),
        (
            "tides",
            "no_such_package.settings:study",
            "cannot be loaded .No module named 'no_such_package'.; mend it, or run",
        ),
        ("tides", f"{__name__}:ebb", "cannot be loaded .* has no attribute 'ebb'"),
    ],
)
def test_an_entry_point_that_names_no_study_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    entry = EntryPoint(name, value, "ovrag.studies")
    monkeypatch.setattr("ovrag_core.base.settings.installed_studies", lambda: {name: entry})
    with pytest.raises(SettingsError, match=said):
        load_study(name)


def test_the_studies_of_the_project_are_installed() -> None:
    assert list(installed_studies()) == ["causal", "contract_review", "epistemic", "policy"]
    for name, entry in installed_studies().items():
        assert entry.load().settings.name == name


def test_checking_the_parameters_of_studies_loads_nothing_that_takes_time(project: Path) -> None:
    code = (
        "import sys; from ovrag_core.base.settings import load_settings; load_settings(); "
        "print(sorted({'torch', 'pandas', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_the_make_file_asks_first_finds_a_mistyped_key_of_a_study(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert all(f"ovrag {word}" in (project / "Makefile").read_text(encoding="utf-8") for word in ("rules", "corpus"))
    path = write(tmp_path, "studies: {contract_review: {retrieval: {kk: 3}}}")
    monkeypatch.setattr(sys, "argv", ["ovrag", "rules", "--params", str(path)])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    message = f"ovrag: {path}: unknown key studies.contract_review.retrieval.kk; did you mean {RETRIEVAL_K}?\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("corpus.contracts.x", "unknown key corpus.contracts.x: corpus.contracts holds a value and no keys"),
        ("studies.contract_review.retrieval.kk", f"contract_review.retrieval.kk; did you mean {RETRIEVAL_K}?"),
    ],
)
def test_a_bad_override_is_one_sentence(tmp_path: Path, key: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, "corpus: {contracts: 7}"), {key: 3})
    assert str(caught.value).endswith(sentence)


@pytest.mark.parametrize(
    ("text", "key", "sentence"),
    [
        ("{}", "retrieval.top_k", "-S: retrieval.top_k: input should be greater than 0, not 0"),
        ("{}", "retrieval.topk", "-S: unknown key retrieval.topk; did you mean retrieval.top_k?"),
        ("corpus: {contracts: 7}", "corpus.contracts.x", "-S: unknown key corpus.contracts.x"),
        ("chunking: {size: 100}", "retrieval.top_k", "-S: retrieval.top_k"),
        ("chunking: {size: 100}", "corpus.seed", "params.yaml: chunking.overlap must be smaller"),
        ("retrieval: {top_k: 0}", "corpus.seed", "params.yaml: retrieval.top_k"),
    ],
)
def test_the_option_is_named_where_it_is_at_fault_and_else_the_file(
    tmp_path: Path, text: str, key: str, sentence: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, text), {key: 0})
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(sentence)


def test_a_missing_parameter_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml does not exist"):
        load_settings(tmp_path / "nowhere.yaml")


def test_the_projects_questions_are_the_five(project: Path) -> None:
    questions = load_questions(project / "data/questions.yaml")
    assert [question.id for question in questions] == ["Q1", "Q2", "Q3", "Q4", "Q5"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "must be a list of questions"),
        ("- {id: Q1}", "0.text"),
        ("- {id: Q1, text: a}\n- {id: Q1, text: b}", "Q1 is used twice"),
        ("- {id: Q1, txt: a}", "unknown key 0.txt; did you mean text?"),
    ],
)
def test_bad_questions_are_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(QuestionError) as caught:
        load_questions(write(tmp_path, text))
    assert sentence in str(caught.value)


def test_a_model_alone_does_not_read_by_the_short_form(tmp_path: Path) -> None:
    """It would see no kind of loan, and what it cannot see would pass."""
    alone = "llm: {provider: openai}\nextraction: {extractor: chat, form: %s}"
    assert load_settings(write(tmp_path, alone % "triples")).extractor == "chat"
    with pytest.raises(SettingsError, match=r"extraction\.form: short reads no kind of loan"):
        load_settings(write(tmp_path, alone % "short"))
