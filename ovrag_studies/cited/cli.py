"""Cited or silent: answers about company policies with a quotation for every sentence, or none. Not legal advice.

Exit code 0: done; 1: `verify` found an answer that does not hold; 2: bad input, or something could not be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ovrag_core.base.errors import CorpusError, DocumentError, ModelSetupError, SettingsError
from ovrag_core.base.project import project_file
from ovrag_core.retrieval.vectors import VECTORS
from ovrag_core.study.command import (
    BAD,
    DEFAULT_PARAMS,
    FOUND,
    Format,
    Output,
    Overrides,
    Params,
    load_each,
    print_json,
    read_settings,
    say,
    writable_file,
    writable_folder,
)
from ovrag_studies.cited.settings import ARMS, Arm, Policy

if TYPE_CHECKING:
    from ovrag_core.base.settings import Settings
    from ovrag_core.llm import Chat
    from ovrag_studies.cited.arms import ArmParts
    from ovrag_studies.cited.corpus.golden import GoldenQuery
    from ovrag_studies.cited.corpus.policies import PolicyCorpus
    from ovrag_studies.cited.corpus.sources import PolicyFile

CorpusPaths = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus", help="An index, a folder of documents, or a document; may be repeated. Default: of the settings."
    ),
]
Golden = Annotated[
    Path | None, typer.Option("--golden", help="A golden set (CSV); default: the first one of the settings.")
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option(
        "--calibration", help="What `ovrag policy calibrate` wrote; default: calibrate on the settings' data."
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="What `ovrag policy run` wrote.")]
ArmName = StrEnum("ArmName", {name: name for name in ARMS})  # type: ignore[misc]  # a repeated option takes no Literal
NEVER_SILENT: tuple[Arm, ...] = ("b1", "b2", "b3", "no_silence")  # for want of a certified score
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=__doc__)


@app.command()
def index(
    documents: Annotated[list[Path], typer.Argument(help="PDF, text, HTML or DOCX files, or folders of them.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the index.", callback=writable_folder)],
) -> int:
    """Cut documents into paragraphs and keep the hash of each file; later changes of a file are noticed."""
    from ovrag_studies.cited.corpus.indexed_files import write_index
    from ovrag_studies.cited.corpus.policies import corpus_of
    from ovrag_studies.cited.corpus.sources import find_sources, read_source

    sources: list[PolicyFile] = []
    left_out: list[Path] = []
    problems = 0
    for root in documents:
        for path in find_sources(root):
            try:
                sources.append(read_source(path))
            except (DocumentError, CorpusError) as error:
                say(str(error))
                left_out.append(path)
    if not sources:
        raise DocumentError("nothing could be read, so there is no index")
    corpus = corpus_of(sources)
    for source in sources:
        for page in source.scanned:
            say(f"{source.path.name}, page {page} is scanned, without text; run text recognition (OCR) on it")
            problems += 1
    write_index(out, documents, sources, left_out)
    print(f"{out}: {len(corpus.documents)} documents, {len(corpus.paragraphs)} paragraphs")
    return BAD if problems or left_out else 0


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question about the policies.")],
    corpus: CorpusPaths = None,
    arm: Annotated[Arm, typer.Option(help="The arm that answers.")] = "ours",
    calibration: CalibrationFile = None,
    output: Output = Format.text,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """One question: sentences with quotations, what was removed and why, conflicts; or silence with its reason."""
    from ovrag_studies.cited import arms
    from ovrag_studies.cited.printing import answer_text
    from ovrag_studies.cited.records import record_of

    settings = read_settings(params, overrides)
    with _parts(settings, corpus) as opened:
        parts = opened if arm in NEVER_SILENT else _calibrated(settings, opened, calibration)
        record = record_of("asked", arms.ask(parts, arm, question), parts.digest)
        if output is Format.text:
            print(answer_text(record))
        else:
            print_json(json.loads(record.model_dump_json()), indent=None if output is Format.jsonl else 2)
    return 0


@app.command()
def calibrate(
    out: Annotated[Path, typer.Option("--out", help="The file of the calibration.", callback=writable_file)],
    corpus: CorpusPaths = None,
    golden: Golden = None,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """Learn where silence begins on a golden set, and say whether that can be certified."""
    from ovrag_studies.cited.answering.calibration import write_calibration
    from ovrag_studies.cited.golden_runs import calibrate_on

    settings = read_settings(params, overrides)
    with _parts(settings, corpus) as parts:
        path, queries = _golden(Policy.of(settings), golden, parts.index.corpus)
        made = calibrate_on(parts, queries, path.name)
    write_calibration(out, made)
    print(f"{out}: {made.certificate.text}")
    return 0


@app.command()
def run(
    out: Annotated[
        Path, typer.Option("--out", help="The file of records, one JSON object a line.", callback=writable_file)
    ],
    corpus: CorpusPaths = None,
    golden: Golden = None,
    arm: Annotated[list[ArmName] | None, typer.Option(help="Only this arm; may be repeated.")] = None,
    calibration: CalibrationFile = None,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """All queries of a golden set through the arms; the seconds go into a file of their own."""
    from ovrag_studies.cited.answering.replies import write_replies
    from ovrag_studies.cited.arms import runnable
    from ovrag_studies.cited.golden_runs import run_arms
    from ovrag_studies.cited.records import write_run

    settings = read_settings(params, overrides)
    chosen = [each for each in ARMS if each in arm] if arm else list(Policy.of(settings).arms)
    with _parts(settings, corpus) as opened:
        _, queries = _golden(Policy.of(settings), golden, opened.index.corpus)
        parts = opened if set(chosen) <= set(NEVER_SILENT) else _calibrated(settings, opened, calibration)
        for left in sorted(set(chosen) - set(runnable(chosen, parts))):
            if arm:
                raise ModelSetupError(f"{left} asks a chat model; set llm.provider to openai or replay")
            say(f"{left} asks a chat model and is left out")
        count = write_run(out, run_arms(parts, queries, chosen))
        write_replies(out, parts.heard.kept if parts.heard else ())
    print(f"{out}: {count} records")
    return 0


@app.command()
def score(
    file: Run,
    corpus: CorpusPaths = None,
    golden: Golden = None,
    output: Output = Format.text,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """Measures of each arm of a run by a golden set, with intervals; and how the arms differ."""
    from ovrag_studies.cited.measuring.golden_scores import compare_arms, judge, score
    from ovrag_studies.cited.printing import figures_frame, figures_text
    from ovrag_studies.cited.records import read_run

    settings = read_settings(params, overrides)
    options = Policy.of(settings)
    with _parts(settings, corpus) as parts:
        given = parts.index.corpus
        _, queries = _golden(options, golden, given)
        judged = judge(read_run(file, given), queries, given)
        plan = options.experiments.plan
        figures = score(judged, given, plan, parts.verifier)
    if output is Format.text:
        print(figures_text(figures, compare_arms(judged)))
    else:
        print_json(
            json.loads(figures_frame(figures).to_json(orient="records")), indent=None if output is Format.jsonl else 2
        )
    return 0


@app.command()
def verify(file: Run, corpus: CorpusPaths = None, params: Params = DEFAULT_PARAMS, overrides: Overrides = None) -> int:
    """Whether each quotation of a run stands where it says, and supports its sentence."""
    from ovrag_studies.cited.measuring.golden_scores import faults
    from ovrag_studies.cited.records import read_run

    settings = read_settings(params, overrides)
    with _parts(settings, corpus) as parts:
        records = read_run(file, parts.index.corpus)
        found = list(faults(records, parts.index.corpus, parts.verifier))
    for each in found:
        print(each)
    sentences = sum(len(each.sentences) for each in records)
    print(f"{file}: {sentences} sentences, {len(found)} of them with a fault")
    return FOUND if found else 0


@app.command()
def critic(
    documents: Annotated[list[Path], typer.Argument(help="PDF, text, HTML or DOCX files, or folders of them.")],
    output: Output = Format.text,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """Passages that argue where a policy should rule (L1 to L6), with place and reason."""
    from ovrag_studies.cited.critic.critic_chat import criticise_by_chat
    from ovrag_studies.cited.critic.criticism import NAMES, criticise

    settings = read_settings(params, overrides)
    by_chat = Policy.of(settings).critic.by == "chat"
    failed = 0
    collected = []
    with _chat(settings, "the critic", needed=by_chat) as chat:
        for path, document in load_each(documents):
            if isinstance(document, str):
                say(document)
                failed += 1
                continue
            text = document.text
            findings = criticise_by_chat(text, chat).findings if by_chat and chat else criticise(text)
            for each in findings:
                quote = " ".join(text[each.start : each.end].split())
                place = {"document": str(path), "page": document.page_at(each.start), "quote": quote}
                collected.append({**place, **asdict(each)})
                if output is Format.text:
                    print(f"{path}, {each.start}–{each.end}: {each.label} {NAMES[each.label]}: {quote!r} ({each.why})")
    if output is Format.json:
        print_json(collected)
    elif output is Format.jsonl:
        print("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in collected), end="")
    return BAD if failed else 0


@app.command()
def audit(
    file: Run,
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="The folder of the bundle; it must be empty or not there.", callback=writable_folder
        ),
    ],
    arm: Annotated[Arm, typer.Option(help="The arm whose answers are filed.")] = "ours",
    corpus: CorpusPaths = None,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """File the answers of a run with all that is needed to check them without this program."""
    from ovrag_studies.cited.answering.audit import write_bundle
    from ovrag_studies.cited.answering.replies import read_replies
    from ovrag_studies.cited.records import audited, read_run

    settings = read_settings(params, overrides)
    given = _corpus(Policy.of(settings), corpus)
    records = [each for each in read_run(file, given) if each.arm == arm]
    named = {key for each in records for key in each.replies}
    kept = [each for each in read_replies(file) if each.key in named]
    bundle = write_bundle(out, map(audited, records), given, json.loads(Policy.of(settings).model_dump_json()), kept)
    print(f"{out}: {len(records)} answers, {len(kept)} replies of a model; seal {bundle.seal}")
    return 0


@app.command()
def pack(
    file: Run,
    out: Annotated[
        Path,
        typer.Option("--out", help="The folder of the pack; it must be empty or not there.", callback=writable_folder),
    ],
    arm: Annotated[list[ArmName] | None, typer.Option(help="Only answers of this arm; may be repeated.")] = None,
    corpus: CorpusPaths = None,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """Shuffle the answers of a run into a pack that two people rate blind, in the explorer or in the notebook."""
    from ovrag_studies.cited.measuring.ratings import make_pack, write_pack
    from ovrag_studies.cited.records import rated, read_run

    settings = read_settings(params, overrides)
    given = _corpus(Policy.of(settings), corpus)
    records = [each for each in read_run(file, given) if not arm or each.arm in arm]
    made, key = make_pack(rated(records), given, Policy.of(settings).experiments.seed)
    write_pack(out, made, key)
    print(f"{out}: {len(made.items)} answers; key.json tells their arms, so that raters should not open it")
    return 0


@app.command()
def agreement(
    folder: Annotated[Path, typer.Argument(metavar="PACK", help="What `ovrag policy pack` wrote, with two ratings.")],
    rater: Annotated[list[str] | None, typer.Option(help="One of the two raters; given twice.")] = None,
    output: Output = Format.text,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """How far two raters of a pack agree (kappa by scale, with intervals), and what they say of each arm."""
    from ovrag_studies.cited.measuring.ratings import compare, pair_of_raters, read_key, read_pack, read_ratings
    from ovrag_studies.cited.printing import agreement_text

    plan = Policy.of(read_settings(params, overrides)).experiments.plan
    given = read_pack(folder)
    first, second = pair_of_raters(read_ratings(folder, given), rater or [])
    report = compare(first, second, read_key(folder, given), plan)
    if output is Format.text:
        print(agreement_text(report))
    else:
        scales = {
            name: {"answers": each.items, "agree": each.observed}
            | {"kappa": asdict(each.kappa), "pabak": asdict(each.pabak)}
            for name, each in report.agreement.items()
        }
        said = {"answers": report.items, "scales": scales, "arms": report.means}
        print_json(said, indent=None if output is Format.jsonl else 2)
    return 0


@app.command()
def replay(
    runs: Annotated[list[Path], typer.Argument(help="Folders of recorded runs.")],
    corpus: CorpusPaths = None,
    output: Output = Format.text,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
) -> int:
    """Recorded runs of the published system: its figures, computed anew, and with citations read right."""
    from ovrag_studies.cited.answering import recorded

    given = _corpus(Policy.of(read_settings(params, overrides)), corpus)
    lines = []
    for folder in runs:
        was = recorded.read_run(folder)
        recorded.require_known(was, given)
        anew, mended = recorded.summarise(was), recorded.summarise(recorded.corrected(was))
        lines += [
            {"run": was.name, "measure": name, "published": was.published.get(name), "anew": anew.get(name)}
            | {"corrected": mended.get(name)}
            for name in {**anew, **mended}
        ]
    if output is Format.text:
        for line in lines:
            shown = (line["published"], line["anew"], line["corrected"])
            figures = "  ".join(f"{each:>9.4f}" if isinstance(each, float) else f"{'–':>9}" for each in shown)
            print(f"{line['run'] or '':<42} {line['measure'] or '':<24} {figures}")
    else:
        print_json(lines, indent=None if output is Format.jsonl else 2)
    return 0


def _corpus(options: Policy, paths: list[Path] | None) -> PolicyCorpus:
    """The corpus, with a line for each page of it that could not be read."""
    from ovrag_studies.cited.corpus.policies import read_corpus

    corpus = read_corpus(*(paths or [project_file(each) for each in options.data.corpus]))
    for document in corpus.documents.values():
        for page in document.scanned:
            say(f"{document.file}, page {page} is scanned, without text; it is not in the corpus")
    return corpus


def _golden(options: Policy, path: Path | None, corpus: PolicyCorpus) -> tuple[Path, list[GoldenQuery]]:
    from ovrag_studies.cited.corpus.golden import read_golden, require_gold

    chosen = path or project_file(next(iter(options.data.golden.values())))
    queries = read_golden(chosen)
    require_gold(queries, corpus, chosen)
    return chosen, queries


@contextmanager
def _chat(settings: Settings, what: str, *, needed: bool) -> Iterator[Chat | None]:
    """The chat model of the settings; None offline, which is an error where one is needed."""
    from ovrag_core.llm import open_chat

    if needed and settings.llm.provider == "offline":
        raise SettingsError(f"{what} asks a chat model; set llm.provider to openai or replay")
    with open_chat(settings.llm) as chat:
        yield chat


@contextmanager
def _parts(settings: Settings, paths: list[Path] | None) -> Iterator[ArmParts]:
    """What arms are made of, over the corpus of the call or of the settings, without a calibration."""
    from ovrag_studies.cited.answering.recorded import read_run
    from ovrag_studies.cited.arms import ArmParts
    from ovrag_studies.cited.corpus.retrieval import CorpusIndex

    options = Policy.of(settings)
    corpus = _corpus(options, paths)
    folder = options.data.recorded_b1
    alone = {each.question: each for each in read_run(project_file(folder)).answers} if folder else {}
    with _chat(settings, "answering by chat", needed=options.answers.by == "chat") as chat:
        yield ArmParts(options, CorpusIndex(corpus, keep=VECTORS), None, chat, settings.llm.seed, alone)


def _calibrated(settings: Settings, parts: ArmParts, path: Path | None) -> ArmParts:
    """The parts with the calibration of a file, or one that is made now on the settings' own data."""
    from ovrag_studies.cited.answering.calibration import read_calibration
    from ovrag_studies.cited.corpus.retrieval import CorpusIndex
    from ovrag_studies.cited.golden_runs import calibrate_on

    if path:
        made = read_calibration(path)
    else:
        options = Policy.of(settings)
        own = replace(parts, index=CorpusIndex(_corpus(options, None), keep=VECTORS))
        golden, queries = _golden(options, None, own.index.corpus)
        made = calibrate_on(own, queries, golden.name)
    if made.corpus != parts.digest:
        say(
            "silence was calibrated on another corpus; the certificate holds here only if the questions are of its kind"
        )
    if not made.certificate.certified:
        say(f"silence: {made.certificate.text}")
    return replace(parts, calibration=made)
