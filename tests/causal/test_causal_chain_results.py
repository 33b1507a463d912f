"""What the study of chains runs, sweeps, tells and draws: on a small graph, and once on the samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pandas
import pytest
from causal_chain import FALSE, RIGHT, SAID, STORE, chain, edge
from scipy.spatial.distance import jensenshannon

from ovrag_core.base.errors import ModelError, ResultError, SettingsError
from ovrag_core.base.settings import Settings, load_settings
from ovrag_core.base.types import Usage
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.graph import EmbeddedStore
from ovrag_core.llm.chat import Message, Reply
from ovrag_core.study.book import Book
from ovrag_core.study.settings import Intervals
from ovrag_studies.causal import (
    sweep,
)
from ovrag_studies.causal.chains import chain_metrics, chain_runs, drift, random_verdicts, study
from ovrag_studies.causal.chains.chain_runs import ChainBench, instability_in, model_of
from ovrag_studies.causal.chains.drafting import chat_drafter
from ovrag_studies.causal.chains.feedback_loop import DraftJudge, LoopAnswer
from ovrag_studies.causal.chains.study import OURS, ChainStudy, Ran
from ovrag_studies.causal.graphs.causal_terms import RAISES
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.reports import chain_results
from ovrag_studies.causal.reports.question_results import published
from ovrag_studies.causal.settings import Arm, Causal

UNFINISHED = "\n".join(SAID)
ARMS: tuple[Arm, ...] = ("vanilla", "best_of_t", "caf")
PLAN = Resampling(200)


@pytest.fixture(scope="module")
def done() -> ChainStudy:
    """Twelve chains of one kind, half of them with a false sentence in the prompt, and a short replay."""
    options = Causal(arms=ARMS)
    chains = [chain(number, false=number % 2 == 0) for number in range(12)]
    bench = ChainBench(STORE, NameLexicon.of_graph(STORE), chains)
    cases = chain_runs.run(bench, options, ARMS)
    return ChainStudy(options, "drift simulator", {OURS: Ran(bench, tuple(cases))}, random_verdicts.replay(50))


@pytest.fixture
def book(tmp_path: Path, done: ChainStudy) -> Book:
    return written_to(tmp_path, Settings(), done)


def written_to(folder: Path, settings: Settings, done: ChainStudy) -> Book:
    opened = chain_results.open_book(settings, done)
    return replace(opened, plan=PLAN, tables=folder / "tables", figures=folder / "figures")


def swept(gains: dict[str, float], parameter: str = "obedience") -> pandas.DataFrame:
    """A sweep with these gains by value, as its stages write it."""
    rows = []
    for value, gain in gains.items():
        for arm in sweep.ARMS:
            row: dict[str, object] = {"parameter": parameter, "value": value, "arm": arm, "chains": 12, "p": 0.5}
            for measure in (*sweep.MEASURES, "gain"):
                given = gain if measure == "gain" else 0.8
                row |= {measure: given, f"{measure}_low": given - 0.1, f"{measure}_high": given + 0.1}
            rows.append(row if arm == "caf" else row | dict.fromkeys(("gain", "gain_low", "gain_high", "p")))
    return pandas.DataFrame(rows)


def tex(book: Book, name: str) -> str:
    return (book.tables / "causal_chains" / "samples" / f"{name}.tex").read_text(encoding="utf-8")


def test_every_table_names_the_declared_simulator_its_assumptions_the_chains_and_what_is_resampled(
    book: Book, done: ChainStudy
) -> None:
    figures = study.figures(done, PLAN)
    shown = chain_results.arms_table(book, done, figures).set_index("arm")
    assert shown.index.tolist() == ["vanilla", "best of T", "loop (CAF)"]
    chain_results.paired_table(book, done, study.compared(done, PLAN))
    chain_results.invariance_table(book, done, figures)
    chain_results.contradictions_table(book, study.detected(done, PLAN))
    for name in ("arms", "paired", "invariance", "contradictions"):
        text = tex(book, name)
        assert "Model: drift simulator (declared, no model; drift 0.3, obedience 0.9)" in text, name
        assert "n = 12 chains (36 wordings)" in text and "resamples over chains" in text, name
        assert "Arm: " in text, name


def test_the_arms_are_as_good_as_their_verdicts(book: Book, done: ChainStudy) -> None:
    figures = study.figures(done, PLAN)
    entailment = figures[figures["measure"] == "entailment"].set_index("arm")["value"]
    assert entailment["caf"] > entailment["vanilla"]
    full = chain_results.arms_table(book, done, figures)
    cell = full.set_index("arm").loc["loop (CAF)", "entailment"]
    assert cell.startswith(f"{entailment['caf']:.3f} [")
    csv = pandas.read_csv(book.tables / "causal_chains" / "samples" / "arms.csv").set_index("arm")
    assert csv.loc["loop (CAF)", "n"] == 12 and csv.loc["best of T", "drafts"] == done.options.loop.rounds


def test_the_loop_is_compared_with_every_other_arm(done: ChainStudy) -> None:
    compared = study.compared(done, PLAN)
    assert set(compared["chains"]) == {OURS} and compared["against"].tolist() == ["vanilla", "best_of_t"]


def test_contradictions_are_counted_in_prompts_and_paraphrases(book: Book, done: ChainStudy) -> None:
    found = study.detected(done, PLAN)
    recall, precision = found[found["kind or rule"] == "all"].to_dict("records")
    assert recall["of"] == 6 and recall["recall"] == 1.0
    assert precision["of"] == 12 and not pandas.isna(precision["precision"])
    shown = chain_results.contradictions_table(book, found)
    assert shown["kind or rule"].tolist()[:2] == ["reversed", "all"]


def test_an_answer_is_shown_from_the_inside(done: ChainStudy) -> None:
    case = study.example(done)
    text = chain_results.case_text(case)
    assert case.chain.prompt in text and f"Round {len(case.answer.rounds)}: score" in text
    assert all(line in text for round_ in case.answer.rounds for line in round_.constraints)
    assert study.example(done, "rain-3").chain.id == "rain-3"
    said = chain_results.verdicts_text(done.ours.bench.reference.check("River flow raises rain."))
    assert said.startswith("CONTRADICTION: River flow raises rain") and "  query   ASK {" in said
    assert "  triple  <urn:t#rain> <urn:ovrag:causal#raises> <urn:t#river_flow>" in said
    assert chain_results.verdicts_text([]) == "Nothing is stated."


def test_the_gain_ends_where_it_crosses_zero() -> None:
    assert chain_results.gain_ends(swept({"0": -0.2, "0.5": -0.1, "1": 0.1})) == pytest.approx(0.75)
    assert chain_results.gain_ends(swept({"0": 0.1, "1": 0.2})) is None
    assert chain_results.gain_ends(swept({"0": -0.1, "1": 0.1}, "coverage")) is None, "another parameter"


def test_sweeps_are_drawn_and_told(book: Book, done: ChainStudy) -> None:
    given = pandas.concat(
        [
            swept({"0": -0.2, "0.5": -0.1, "1": 0.1}),
            swept({"0.8": 0.1, "1": 0.2}, "coverage"),
            swept({"none": 0.1, "linking": 0.2}, "parts"),
        ]
    )
    paths = [make(book, given) for make in (chain_results.obedience_figure, chain_results.coverage_figure)]
    assert "the gain is 0 at 0.75" in paths[0].with_suffix(".tex").read_text(encoding="utf-8")
    bytes_ = [path.read_bytes() for path in paths]
    assert bytes_ == [
        make(book, given).read_bytes() for make in (chain_results.obedience_figure, chain_results.coverage_figure)
    ]
    ablations = chain_results.ablations_table(book, given)
    assert ablations["loop"].tolist() == ["the whole loop", "without linking"]
    table = chain_results.sweep_table(book, given)
    assert set(table["parameter"]) == {"obedience", "coverage"}
    assert "where not varied" in tex(book, "sweep")


def test_macros_are_letters_and_hold_what_the_tables_hold(book: Book, done: ChainStudy) -> None:
    figures, compared, found = study.figures(done, PLAN), study.compared(done, PLAN), study.detected(done, PLAN)
    given = pandas.concat([swept({"0": -0.1, "1": 0.1}), swept({"0.8": 0.1, "1": 0.2}, "coverage")])
    path = chain_results.numbers_file(book, done, figures, compared, found, given)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert r"\newcommand{\CausalChains}{12}" in lines and r"\newcommand{\CausalGainEnds}{0.50}" in lines
    (entailment,) = figures[(figures["arm"] == "caf") & (figures["measure"] == "entailment")]["value"]
    assert rf"\newcommand{{\CausalCafEntailment}}{{{entailment:.3f}}}" in lines
    assert r"\newcommand{\CausalCoverageZeroEightEntailment}{0.800}" in lines
    assert r"\newcommand{\CausalCellsMeasured}{16}" in lines
    assert r"\newcommand{\CausalRecallInPromptsAndParaphrases}{1.000}" in lines


def test_the_published_table_stands_beside_its_replay_and_what_nobody_measured_is_named(
    book: Book, done: ChainStudy
) -> None:
    shown = chain_results.replays_table(book, done.replayed)
    assert shown["inside"].tolist().count("not measured") == 4, "the invariance of the four baselines"
    assert "Published: Georgiev and Gegov" in tex(book, "random_verdicts")
    assert "Arm: random verdicts" in tex(book, "random_verdicts")
    assert {each["accuracy"] for each in published()["numbers"]} == {0.62, 0.704}


def test_seconds_are_of_every_stated_effect_and_its_reverse(book: Book, done: ChainStudy) -> None:
    clock = count()
    spent = study.seconds(done, lambda: float(next(clock)))
    assert len(spent["ASK, embedded"]) == 2 * 5, "five effects in the small graph"
    assert len(spent["parse, link and verify a sentence"]) == 12 * 4
    assert {taken for of in spent.values() for taken in of} == {1.0}
    shown = chain_results.latency_table(book, spent)
    assert shown["median"].tolist() == ["1000.0", "1000.0"], "milliseconds"
    apart = book.tables / "latency_causal_chains" / "samples" / "latency_chains.csv"
    assert apart.exists(), "where nobody takes it for the same each time"


def test_a_sweep_changes_one_parameter_and_nothing_else() -> None:
    options = Causal()
    runs = list(sweep.points(options))
    assert [value for name, value, _, _ in runs if name == "parts"] == ["none", *sweep.PARTS]
    for name, value, changed, taken in runs:
        if name == "parts":
            assert changed == options and (taken or "none") == value
            continue
        given, before = changed.model_dump(), options.model_dump()
        parts = ("loop", "drift", "store")
        differ = {key for part in parts for key in given[part] if given[part][key] != before[part][key]}
        assert differ <= {"rate" if name == "drift" else name} and taken is None
    names = list(dict.fromkeys(name for name, *_ in runs))
    assert names == ["parts", *sweep.VARIED]


def test_a_sweep_has_a_row_for_each_run_and_arm_and_one_draft_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "PARTS", ())
    monkeypatch.setattr(sweep, "VARIED", {"rounds": (1,)})
    frame = sweep.run_sweep(Causal(experiments=Intervals(bootstrap_samples=200)))
    assert frame["value"].tolist() == ["none", "none", "1", "1"] and set(frame["chains"]) == {75}
    single = frame[frame["parameter"] == "rounds"].set_index("arm")
    assert single["gain"]["caf"] == 0 and single["p"]["caf"] == 1
    assert single["entailment"]["best_of_t"] == single["entailment"]["caf"]


def test_a_sweep_that_was_not_run_is_named_with_its_stage(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"sweep\.csv is missing; `dvc repro causal_sweep` makes it"):
        sweep.read_sweep(tmp_path / "sweep.csv")
    swept({"none": 0.1}, "parts").to_csv(tmp_path / "sweep.csv", index=False)
    assert sweep.read_sweep(tmp_path / "sweep.csv")["value"].tolist() == ["none", "none"], "a word and no missing value"


def test_the_model_around_a_chain_has_the_graph_s_signs_and_other_causes() -> None:
    given = chain()
    model = model_of(given, STORE, 1.0)
    first, last = given.premises[0].subject.value, given.premises[-1].object.value
    assert list(model.do({first: 1}).distribution([last])) == [1.0, 0.0], "one falls where the product of signs is -1"
    assert instability_in(STORE, 1.0)(given) == 0, "nothing else is at work"
    more = EmbeddedStore([*STORE.triples(), edge("tide", RAISES, "demand for housing")])
    apart = jensenshannon([1.0, 0.0], [0.5, 0.5], base=2)
    assert instability_in(more, 1.0)(given) == pytest.approx(apart / 2), "two contexts differ half of the time"


RECORDED = """{"chains": [{"chain_id": "r1", "domain": "tides", "initial_premise": "the moon comes near",
 "final_conclusion": "mussels open", "prompt": "Given: the moon comes near. What follows?",
 "steps": [{"antecedent": "nearness of the moon rises", "consequent": "tide rises", "natural_language": "x"},
           {"antecedent": "tide rises", "consequent": "mussel feeding falls", "natural_language": "y"}],
 "perturbations": [{"type": "paraphrase", "perturbed": "The moon comes near. And then?"}]}]}"""


def test_samples_and_recorded_chains_run(tmp_path: Path) -> None:
    (tmp_path / "recorded.json").write_text(RECORDED, encoding="utf-8")
    given = {"arms": ["vanilla"], "data": {"recorded": str(tmp_path / "recorded.json")}}
    settings = Settings(studies={"causal": given})
    done = study.run_study(settings)
    cases = [case for ran in done.sets.values() for case in ran.cases]
    assert len(done.ours.cases) == 75 * 4 and len(cases) == 75 * 4 + 2 and done.replayed is None
    book = written_to(tmp_path, settings, done)
    shown = chain_results.chains_table(book, done)
    assert shown["n"].tolist() == ["15"] * 5 + ["1"] and shown["contradicted"].astype(int).sum() == 23
    figures = study.figures(done, PLAN)
    assert chain_results.arms_table(book, done, figures)["chains"].tolist() == [OURS, study.RECORDED]
    assert "75 chains (300 wordings); 1 recorded chains (2 wordings)" in tex(book, "arms")
    assert chain_results.arms_figure(book, done, figures).exists()


def test_a_sample_of_the_chains_is_asked_in_their_prompts_own_words(project: Path) -> None:
    options = Causal.of(load_settings(project / "params_open.yaml"))
    assert options.drafts == "chat" and not options.paraphrases
    given = Settings(studies={"causal": {"sample": options.sample, "paraphrases": False, "arms": ["vanilla"]}})
    cases = study.run_study(given).ours.cases
    assert [case.chain.id for case in cases][:3] == ["biology-01", "biology-07", "biology-13"]
    assert {case.wording for case in cases} == {0}
    assert Counter(case.chain.depth for case in cases) == {3: 3, 4: 3, 5: 3, 6: 3}, "as params_open.yaml says"


class Played:
    """A chat model that says what it is given to say, and then fails."""

    name = "played"

    def __init__(self, drafts: list[str]) -> None:
        self.drafts = iter(drafts)

    def complete(self, asked: Sequence[Message], **_: object) -> Reply:
        for draft in self.drafts:
            return Reply(text=draft, parsed=None, usage=Usage(), seconds=0.0, model=self.name)
        raise ModelError("no more")


def test_a_chat_model_s_drafts_stand_beside_the_simulator_s_with_the_objections_that_it_obeyed(
    tmp_path: Path,
) -> None:
    options = chain_runs.varied(Causal(arms=("caf",)), "loop", rounds=3)
    chains = [chain(number) for number in range(3)]
    bench = ChainBench(STORE, NameLexicon.of_graph(STORE), chains)
    drafts = [[f"{FALSE}\n{UNFINISHED}", f"{FALSE}\n{RIGHT}", RIGHT], ["I cannot say."] * 3, []]
    by_model = [
        case
        for each, said in zip(chains, drafts, strict=True)
        for case in chain_runs.run(
            replace(bench, chains=(each,)), options, ("caf",), paraphrases=False, drafter=chat_drafter(Played(said))
        )
    ]
    found = chain_metrics.revised(by_model, PLAN)
    assert found["obeyed"].value == pytest.approx(2 / (2 + 1 + 6 + 6)), "what is still missing is not obeyed"
    assert found["new"].value == 0

    simulated = ChainStudy(
        options, drift.NAME, {OURS: Ran(bench, tuple(chain_runs.run(bench, options, ("caf",))))}, None
    )
    asked = replace(simulated, drafts_by="played", sets={OURS: Ran(bench, tuple(by_model))})
    book = written_to(tmp_path, Settings(), simulated)
    shown = chain_results.model_table(book, asked, simulated).set_index("measure")
    assert shown.columns.tolist() == ["model, loop (CAF)", "simulator, loop (CAF)"]
    model = shown["model, loop (CAF)"].str.split(expand=True)[0]
    assert model[["entailment", "obeyed", "no statement", "no reply"]].tolist() == ["0.333", "0.133", "0.667", "0.333"]
    assert shown.loc["no reply", "simulator, loop (CAF)"].startswith("0.000 [")
    full = pandas.read_csv(book.tables / "causal_chains" / "samples" / "model.csv")
    assert full["drafts by"].tolist() == ["model", "simulator"] and full["n"].tolist() == [3, 3]
    assert "Model: played; drift simulator (declared, no model; drift 0.3, obedience 0.9)" in tex(book, "model")
    assert "n = 3 chains" in tex(book, "model") and "resamples over chains" in tex(book, "model")


def test_a_revision_without_a_statement_obeys_nothing_and_what_it_spoils_is_new(done: ChainStudy) -> None:
    judge = DraftJudge(done.ours.bench.reference.check, done.options.loop)
    case = done.ours.cases[0]

    def revised(*drafts: str) -> tuple[float | None, float | None]:
        rounds = tuple(judge.round(number, draft) for number, draft in enumerate(drafts, start=1))
        loop = replace(case, arm="caf", answer=LoopAnswer("rejected", "", rounds))
        found = chain_metrics.revised([loop], PLAN)
        return found["obeyed"].value, found["new"].value

    assert revised(FALSE, "") == (0.0, 1.0)
    assert revised(FALSE, "River flow increases rain.") == (0.0, 0.0), "the same in other words"
    assert revised(FALSE, "Tide lowers fish stock.") == (1.0, 1.0)
    assert revised(RIGHT) == (None, None)


def test_drafts_by_a_chat_model_need_one() -> None:
    with pytest.raises(SettingsError, match=r"studies\.causal\.drafts asks a chat model; set llm\.provider"):
        study.run_study(Settings(studies={"causal": {"drafts": "chat"}}))
