"""README's first command, as it stands there, in a folder that holds nothing but its file."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def test_the_first_review_of_the_readme_finds_its_contradiction(tmp_path: Path) -> None:
    line = re.search(r"(?m)^ovrag (review .+?)\s*(?:#.*)?$", (PROJECT / "README.md").read_text(encoding="utf-8"))
    assert line is not None
    words = shlex.split(line[1])
    (tmp_path / words[1]).parent.mkdir(parents=True)
    shutil.copy(PROJECT / words[1], tmp_path / words[1])
    command = [str(Path(sys.executable).with_name("ovrag")), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "CONTRADICTION (secured_unsecured)" in done.stdout
    assert (tmp_path / words[words.index("--html") + 1]).is_file()
