"""Cited or silent: answers about company policies with a quotation for every sentence, or none. Not legal advice.

Exit code 0: done; 2: bad input, or something could not be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ovrag_core.base import ModelSetupError, Settings, project_file
from ovrag_core.study import (
    BAD,
    Format,
    Output,
    load_each,
    print_record,
    print_records,
    say,
    study_commands,
    with_settings,
    writable_file,
    writable_folder,
)
from ovrag_studies.cited.settings import ARMS, Arm, Policy

if TYPE_CHECKING:
    from ovrag_studies.cited.arms import ArmParts
    from ovrag_studies.cited.corpus.golden import GoldenQuery
    from ovrag_studies.cited.corpus.policies import PolicyCorpus

CorpusPaths = Annotated[
    list[Path] | None,
    typer.Option("--corpus", help="A folder of documents, or a document; may be repeated. Default: of the settings."),
]
Golden = Annotated[Path | None, typer.Option(help="A golden set (CSV); default: the first one of the settings.")]
CalibrationFile = Annotated[
    Path | None,
    typer.Option(help="What `ovrag policy calibrate` wrote; default: the calibration that comes with the program."),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="What `ovrag policy run` wrote.")]
ArmName = StrEnum("ArmName", {name: name for name in ARMS})  # type: ignore[misc]  # a repeated option takes no Literal
NEVER_SILENT: tuple[Arm, ...] = ("b1", "b2", "b3", "no_silence")  # for want of a certified score
app = study_commands(__doc__)


@app.command(epilog="Example: ovrag policy ask 'May I fly business class?' --corpus policies/")
@with_settings
def ask(
    settings: Settings,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question about the policies.")],
    corpus: CorpusPaths = None,
    arm: Annotated[Arm, typer.Option(help="The arm that answers.")] = "ours",
    calibration: CalibrationFile = None,
    output: Output = Format.text,
) -> int:
    """Answer one question in sentences with quotations, or keep silent and give the reason.

    An answer comes with what was removed and why, and with conflicts.
    """
    if not question.strip():
        raise typer.BadParameter("the question is empty")
    from ovrag_studies.cited import arms, printing

    with _parts(settings, corpus) as opened:
        arm_parts = opened if arm in NEVER_SILENT else _calibrated(opened, calibration)
        record = arms.ask(arm_parts, arm, question)
    if output is Format.text:
        print(printing.answer_text(record))
    else:
        print_record(record.model_dump(mode="json"), output)
    return 0


@app.command(epilog="Example: ovrag policy calibrate --golden mine.csv --out mine.json")
@with_settings
def calibrate(
    settings: Settings,
    out: Annotated[Path, typer.Option(help="The file of the calibration.", callback=writable_file)],
    corpus: CorpusPaths = None,
    golden: Golden = None,
) -> int:
    """Learn where silence begins on a golden set, and say whether that can be certified."""
    from ovrag_studies.cited.answering.silence import write_calibration
    from ovrag_studies.cited.arms import calibrate_on

    with _parts(settings, corpus) as arm_parts:
        calibration = calibrate_on(arm_parts, *_golden(arm_parts, golden))
    write_calibration(out, calibration)
    print(f"{out}: {calibration.certificate.text}")
    return 0


@app.command(epilog="Example: ovrag policy run --golden mine.csv --out run.jsonl")
@with_settings
def run(
    settings: Settings,
    out: Annotated[Path, typer.Option(help="The file of records, one JSON object a line.", callback=writable_file)],
    corpus: CorpusPaths = None,
    golden: Golden = None,
    arm: Annotated[list[ArmName] | None, typer.Option(help="Only this arm; may be repeated.")] = None,
    calibration: CalibrationFile = None,
) -> int:
    """Run all queries of a golden set through the arms; the seconds go into a file of their own."""
    from ovrag_studies.cited import arms, records

    with _parts(settings, corpus) as opened:
        chosen = [name for name in ARMS if name in arm] if arm else opened.options.arms
        queries, _ = _golden(opened, golden)
        arm_parts = opened if set(chosen) <= set(NEVER_SILENT) else _calibrated(opened, calibration)
        for skipped in sorted(set(chosen) - set(arms.runnable(chosen, arm_parts))):
            if arm:
                raise ModelSetupError(f"{skipped} asks a chat model; set llm.provider to openai or replay")
            say(f"{skipped} asks a chat model and is left out")
        count = records.write_run(out, arms.run_arms(arm_parts, opened.options.sampled(queries), chosen))
        records.write_replies(out, arm_parts.heard.kept if arm_parts.heard else ())
    print(f"{out}: {count} records")
    return 0


@app.command(epilog="Example: ovrag policy score run.jsonl --golden mine.csv")
@with_settings
def score(
    settings: Settings, file: Run, corpus: CorpusPaths = None, golden: Golden = None, output: Output = Format.text
) -> int:
    """Print measures of each arm of a run by a golden set, with confidence intervals; and how the arms differ."""
    from ovrag_studies.cited import printing, records
    from ovrag_studies.cited.measuring import golden_scores

    with _parts(settings, corpus) as arm_parts:
        policy_corpus = arm_parts.index.corpus
        queries, _ = _golden(arm_parts, golden)
        judged = golden_scores.judge(records.read_run(file, policy_corpus), queries, policy_corpus)
        figures = golden_scores.score(judged, policy_corpus, arm_parts.options.experiments.plan, arm_parts.verifier)
    if output is Format.text:
        print(printing.figures_text(figures, golden_scores.compare_arms(judged)))
        return 0
    rows = [
        {"arm": arm, "measure": measure, "value": estimate.value, "low": estimate.low, "high": estimate.high}
        | {"n": estimate.clusters, "interval": estimate.method}
        for arm, measures in figures.items()
        for measure, estimate in measures.items()
    ]
    print_record(rows, output)
    return 0


@app.command(epilog="Example: ovrag policy critic handbook.pdf")
@with_settings
def critic(
    settings: Settings,
    documents: Annotated[list[Path], typer.Argument(metavar="FILE", help="PDF, DOCX, HTML or text files, or folders.")],
    output: Output = Format.text,
) -> int:
    """Find passages that argue where a policy should rule (L1 to L6), with place and reason."""
    from ovrag_core.llm import open_chat
    from ovrag_studies.cited.critic.criticism import criticise, criticise_by_chat
    from ovrag_studies.cited.printing import findings_text

    by_chat = Policy.of(settings).critic.by == "chat"
    code = 0
    collected = []
    with open_chat(settings.llm) as chat:
        if by_chat and chat is None:
            raise ModelSetupError("the critic asks a chat model; set llm.provider to openai or replay")
        for path, document in load_each(documents):
            if isinstance(document, str):
                say(document)
                code = BAD
                continue
            text = document.text
            findings = criticise_by_chat(text, chat) if by_chat and chat else criticise(text)
            for finding in findings:
                quote = " ".join(text[finding.start : finding.end].split())
                location = {"document": str(path), "page": document.page_at(finding.start), "quote": quote}
                collected.append({**location, **asdict(finding)})
            if findings and output is Format.text:
                print(findings_text(text, findings, f"{path}, "))
    if output is not Format.text:
        print_records(collected, output)
    return code


@app.command(epilog="Example: ovrag policy audit run.jsonl --out audit/")
@with_settings
def audit(
    settings: Settings,
    file: Run,
    out: Annotated[
        Path, typer.Option(help="The folder of the bundle; it must be empty or not there.", callback=writable_folder)
    ],
    arm: Annotated[Arm, typer.Option(help="The arm whose answers are filed.")] = "ours",
    corpus: CorpusPaths = None,
) -> int:
    """File the answers of a run with all that is needed to check them without this program."""
    from ovrag_studies.cited.answering.audit import write_bundle
    from ovrag_studies.cited.records import read_replies, read_run

    options = Policy.of(settings)
    policy_corpus = _corpus(options, corpus)
    records = [record for record in read_run(file, policy_corpus) if record.arm == arm]
    named = {key for record in records for key in record.replies}
    replies = [reply for reply in read_replies(file) if reply.key in named]
    seal = write_bundle(out, records, policy_corpus, options.model_dump(mode="json"), replies)
    print(f"{out}: {len(records)} answers, {len(replies)} replies of a model; seal {seal}")
    return 0


def _corpus(options: Policy, paths: list[Path] | None) -> PolicyCorpus:
    """Return the corpus, with a line for each page of it that could not be read."""
    from ovrag_studies.cited.corpus.policies import read_corpus

    corpus = read_corpus(*(paths or map(project_file, options.data.corpus)))
    for document in corpus.documents.values():
        for page in document.scanned:
            say(f"{document.file}, page {page} is scanned, without text; it is not in the corpus")
    return corpus


def _golden(parts: ArmParts, path: Path | None) -> tuple[list[GoldenQuery], str]:
    """Return the queries of a golden set, by default the first one of the settings, and the name of its file."""
    from ovrag_studies.cited.corpus.golden import read_golden

    chosen = path or project_file(next(iter(parts.options.data.golden.values())))
    return read_golden(chosen, parts.index.corpus), chosen.name


@contextmanager
def _parts(settings: Settings, paths: list[Path] | None) -> Iterator[ArmParts]:
    """Give what arms are made of, over the corpus of the call or of the settings, without a calibration."""
    from ovrag_core.llm import open_chat
    from ovrag_core.retrieval import VECTORS
    from ovrag_studies.cited.arms import ArmParts
    from ovrag_studies.cited.corpus.retrieval import CorpusIndex

    options = Policy.of(settings)
    with open_chat(settings.llm) as chat:
        yield ArmParts(options, CorpusIndex(_corpus(options, paths), keep=VECTORS), None, chat, settings.llm.seed)


def _calibrated(parts: ArmParts, path: Path | None) -> ArmParts:
    """Return the parts with the calibration of a file, else with the bundled one."""
    from ovrag_studies.cited.answering.silence import BUNDLED, read_calibration

    calibration = read_calibration(path or BUNDLED)
    if calibration.corpus != parts.index.corpus.digest:
        say(
            "silence was calibrated elsewhere; for documents and questions of that kind alone it is certified: "
            f"at most {calibration.certificate.alpha:.2f} of the answers wrong"
        )
    if not calibration.certificate.certified:
        say(f"silence: {calibration.certificate.text}")
    return replace(parts, calibration=calibration)
