# `make` alone lists the targets. Each of them first brings .venv to the locked versions, which is quick when it is.

PYTHON ?= python3.11
# Where the CPU build of torch comes from; the default index is used where this one is out of reach.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
# In the order of their names: files of few and long tests would else come last, where one process waits for the other.
PYTEST_FLAGS ?= --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

export PYTHON TORCH_INDEX
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Nothing is downloaded and nothing is reported to anybody once the packages are installed.
export HF_HUB_OFFLINE := 1
export TRANSFORMERS_OFFLINE := 1
export HF_HUB_DISABLE_TELEMETRY := 1
export ANONYMIZED_TELEMETRY := False
export DO_NOT_TRACK := 1
export DVC_NO_ANALYTICS := 1
export TOKENIZERS_PARALLELISM := false
# An activated environment or a PYTHONPATH of another project must not shine through.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.PHONY: help setup reproduce loans contract-review epistemic policy causal external repro train verify site thesis readme claims test check lab explore model record lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## create .venv, or bring it to the locked versions
	@tools/setup.sh

# DVC removes the outputs of a stage before it runs: a mistyped parameter or path must be found before that.
.PHONY: checked
checked: setup
	@.venv/bin/ovrag rules >/dev/null
	@.venv/bin/ovrag corpus

reproduce: checked ## recompute everything: the experiment on loans and the studies
	@rm -rf data/cache data/runs/*.partial.*
	@.venv/bin/dvc repro --force

loans: checked ## recompute the experiment on loans alone, stages 01-06
	@rm -rf data/runs/*.partial.*
	@.venv/bin/dvc repro --force 04_consistency_and_quality 05_latency 06_contamination_analysis

contract-review: checked ## recompute the study of contract review alone, stage 07
	@.venv/bin/dvc repro --force 07_contract_review

epistemic: checked ## recompute the study of abstention alone, stage 08
	@.venv/bin/dvc repro --force 08_epistemic_abstention

policy: checked ## recompute the study of cited answers alone, stage 09
	@.venv/bin/dvc repro --force 09_cited_or_silent

causal: checked ## recompute the study of causal chains alone, stages 10 and 11
	@.venv/bin/dvc repro --force 10_causal_chains 11_causal_questions

external: checked ## the studies on data of other publishers, which OVRAG_EXTERNAL_DATA holds; only what a change affects
	@.venv/bin/python -m ovrag_core.study.external
	@.venv/bin/dvc repro --keep-going notebooks/external/dvc.yaml

repro: checked ## recompute only what a change affects; what cannot be, as a recorded run of other contracts, is named
	@.venv/bin/dvc repro --keep-going

train: setup ## learn all weights anew from training/, about a day; two hours with a graphics card
	@for each in currencies names gate judge questions passages policy_reader policy_critic policy_conflicts policy_precedence policy_silence; do .venv/bin/python tools/train_$$each.py || exit; done

verify: setup ## rebuild in two fresh clones of HEAD and compare with it, up to 15 minutes
	@.venv/bin/python tools/verify.py $(if $(KEEP),--keep)

site: setup ## the documentation as pages that open offline, in build/site, with a page for each module
	@.venv/bin/mkdocs build --quiet --strict && echo build/site/index.html

thesis: setup ## set the results chapter with LaTeX, after checking that nothing in it is stale
	@.venv/bin/ovrag export --check
	@.venv/bin/python -m ovrag_core.publish.latex thesis/main.tex

readme: setup ## bring the figures of README.md and docs/ up to date with the results
	@.venv/bin/python -m ovrag_core.publish.readme README.md docs/*.md

claims: setup ## run the command beside each figure of README.md and docs/, and compare, about 20 minutes
	@.venv/bin/python tools/claims.py

# A thread for each of pytest's processes: with more they wait for one another, and take half as long again.
test: setup ## style, types and tests; each runs even where one before it fails
	@status=0; \
	.venv/bin/ruff check . || status=1; \
	.venv/bin/ruff format --check . || status=1; \
	.venv/bin/mypy || status=1; \
	.venv/bin/lint-imports --no-cache --no-logo || status=1; \
	OMP_NUM_THREADS=1 .venv/bin/pytest $(PYTEST_FLAGS) || status=1; \
	exit $$status

lab: setup ## open JupyterLab on the notebooks; LAB=--allow-root passes options on
	@.venv/bin/jupyter labextension disable --level=sys_prefix @jupyterlab/apputils-extension:announcements >/dev/null 2>&1 # it asks the network
	@.venv/bin/jupyter lab --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/lab/tree/notebooks \
		--LabApp.extension_manager=readonly --LabApp.news_url=None \
		--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate $(LAB)

lock: setup ## resolve requirements.in anew; UPGRADE=1 takes newer versions
	@.venv/bin/python tools/lock.py $(if $(UPGRADE),--upgrade)

explore: setup ## open the explorer in the browser; EXPLORE=--no-browser passes options on
	@.venv/bin/python -m ovrag_core.app.explorer $(EXPLORE)

model: setup ## serve the language model of the recorded runs, fetched at the first time (1.1 GB); MODEL=file PORT=n
	@.venv/bin/python tools/model_server.py $(if $(MODEL),--model "$(MODEL)") $(if $(PORT),--port $(PORT))

RECORD = build/record.yaml
record: setup ## record all that the open model is asked anew, beside `make model`; hours, and goes on where it stopped
	@mkdir -p build && sed 's/provider: replay/provider: openai/; s/open.jsonl.xz/open.jsonl/' params_open.yaml > $(RECORD)
	@.venv/bin/ovrag run --params $(RECORD)
	@.venv/bin/ovrag run --params $(RECORD) -S experiment.run=open_free -S experiment.arms=[ovrag_evidence] \
	  -S experiment.corrections=0 -S extraction.extractor=answers -S extraction.form=triples
	@.venv/bin/python -m ovrag_core.app.notebooks $(addprefix notebooks/,07_contract_review.ipynb 08_epistemic_abstention.ipynb \
	  09_cited_or_silent.ipynb 10_causal_chains.ipynb) -p open_params=$(RECORD) --to build/reports
	@.venv/bin/python -m ovrag_core.llm.store data/replies/open.jsonl

clean: ## remove .venv and caches; results stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
