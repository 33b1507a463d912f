"""Parameter files: what is accepted, and what is said of what is not."""

from pathlib import Path

import pytest
import yaml

from ovrag_core.errors import QuestionError, SettingsError
from ovrag_core.settings import Part, Settings, load_questions, load_settings, study_settings
from ovrag_core.studies.contract_review.settings import contract_review


def write(folder: Path, text: str) -> Path:
    path = folder / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_projects_parameter_file_names_every_key(project: Path) -> None:
    settings = load_settings(project / "params.yaml")
    named = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    of_studies = keys(named.pop("studies"))
    assert keys(named) | {"studies": {}} == keys(Settings().model_dump(mode="json"))
    assert of_studies == {"contract_review": keys(contract_review(settings).model_dump(mode="json"))}


def keys(values: dict) -> dict:
    return {name: keys(value) if isinstance(value, dict) else None for name, value in values.items()}


def test_an_override_replaces_the_files_value(tmp_path: Path) -> None:
    path = write(tmp_path, "corpus: {contracts: 7}\n")
    assert load_settings(path, {"corpus.contracts": 3}).corpus.contracts == 3
    assert load_settings(path, {"retrieval.top_k": 5}).retrieval.top_k == 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("corpus: {contract: 7}", "unknown key corpus.contract; did you mean contracts?"),
        ("experimnt: {}", "unknown key experimnt; did you mean experiment?"),
        ("zzz: 1", "unknown key zzz"),
        ("corpus: {contracts: many}", "corpus.contracts: input should be a valid integer"),
        ("corpus: {contracts: 0}", "corpus.contracts: input should be greater than 0"),
        ("experiment: {arms: [ovrag, magic]}", "experiment.arms.1"),
        ("experiment: {run: ../../x}", "experiment.run"),
        ("chunking: {size: 100, overlap: 100}", "chunking.overlap must be smaller than chunking.size"),
        ("llm: {modell: x}", "unknown key llm.modell; did you mean model?"),
        ("llm: {provider: chatty}", "llm.provider: input should be"),
        ("extraction: {extractor: chat}", "extraction.extractor: chat needs a model; set llm.provider"),
        ("extraction: {extractor: hybrid}", "extraction.extractor: hybrid needs a model; set llm.provider"),
        ("retrieval: {embedding: remote}", "retrieval.embedding: remote needs a model; set llm.provider"),
        ("llm: {provider: replay, store: null}", "replay needs a store of recorded replies"),
        ("llm: {provider: replay, refresh: true}", "llm.refresh asks the model anew"),
        ("corpus: [", "is not valid YAML at line"),
        ("- a list", "must hold keys and values"),
        ("studies: {contract_reviews: {}}", "studies.contract_reviews is no study; known are contract_review"),
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
        ("{llm: {provider: openai}, extraction: {extractor: chat}}", "chat"),
    ],
)
def test_the_extractor_follows_the_provider_unless_it_is_named(tmp_path: Path, text: str, extractor: str) -> None:
    assert load_settings(write(tmp_path, text)).extractor == extractor


class OfAStudy(Part):
    """Parameters of some study."""

    size: int = 3


def test_a_study_has_parameters_of_its_own(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "studies: {contract_review: {size: 4}}"))
    assert study_settings(settings, "contract_review", OfAStudy).size == 4
    assert study_settings(Settings(), "contract_review", OfAStudy).size == 3
    settings = load_settings(write(tmp_path, "studies: {contract_review: {sizes: 4}}"))
    with pytest.raises(
        SettingsError, match=r"params.yaml: unknown key studies.contract_review.sizes; did you mean size"
    ):
        study_settings(settings, "contract_review", OfAStudy)


def test_settings_with_studies_can_be_keys() -> None:
    """A worker keeps its bench by the settings that it is for."""
    kept = {Settings(studies={"one": {"a": [1], "b": 2}}): "bench"}
    assert kept[Settings(studies={"one": {"b": 2, "a": [1]}})] == "bench"
    assert Settings(studies={"two": {}}) not in kept


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
