"""Seconds from a command to its end, in new processes: `python benchmarks/start.py`. Medians of five.

"Another file" is what a second and further file of the same call adds. Beside other work every row is longer.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLE = Path("data/samples/loans/agreement.pdf")
CALLS = 5
FILES = 11
OVRAG = str(Path(sys.executable).with_name("ovrag"))


def seconds(*words: str) -> float:
    """The median of CALLS calls."""
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter()
        subprocess.run([OVRAG, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [shutil.copy(SAMPLE, Path(folder) / f"{number}.pdf") for number in range(FILES)]
        one, many = seconds("review", copies[0]), seconds("review", *copies)
        rows = {
            "`ovrag --help`": seconds("--help"),
            "`ovrag review`, a page": one,
            "another file": (many - one) / (FILES - 1),
            "`ovrag ask`, a page": seconds("ask", "Is the loan secured?", "-d", copies[0]),
            "`ovrag check`, two triples": seconds("check", str(triples(Path(folder)))),
        }
    print("| call | seconds |\n|---|---|")
    for name, taken in rows.items():
        print(f"| {name} | {taken:.2f} |")


def triples(folder: Path) -> Path:
    """A file of two triples that contradict each other."""
    path = folder / "triples.json"
    row = '{"sub": "L", "pred": "hasBorrower", "obj": "B", "sub_type": "%s", "obj_type": "Borrower"}'
    path.write_text(f"[{row % 'SecuredLoan'}, {row % 'UnsecuredLoan'}]", encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
