"""`make lab`: JupyterLab opens the repository, takes options, and asks no other machine, nor does its page."""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from browser import free_port, open_browser, require_browser, started, wait_for

PROJECT = Path(__file__).resolve().parents[2]
ITEMS = "[...document.querySelectorAll('.jp-DirListing-item')]"


def test_lab_opens_the_repository_and_asks_no_network(tmp_path: Path) -> None:
    require_browser()
    options = f"LAB=--allow-root --no-browser --port={free_port()}"
    # Under `make test` this is a make within a make, which would name its folder among the commands.
    dry_run = ["make", "--no-print-directory", "-n", "lab", options]
    told = subprocess.run(dry_run, cwd=PROJECT, capture_output=True, text=True, check=True)
    commands = "\n".join(line for line in told.stdout.splitlines() if "setup.sh" not in line)
    log = tmp_path / "log"
    with socket.create_server(("127.0.0.1", 0)) as proxy, open_browser(tmp_path / "browser") as page:
        proxy.setblocking(False)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        proxies = {
            name: address for scheme in ("http", "https") for name in (f"{scheme}_proxy", f"{scheme}_PROXY".upper())
        }
        folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "RUNTIME", "DATA")}
        environment = {**os.environ, **proxies, **folders}
        with started(["sh", "-ec", f"{commands}"], log, cwd=PROJECT, env=environment):
            printed = wait_for(lambda: re.search(r"http://localhost\S+token=\w+", log.read_text()), 90, "Lab")[0]
            page.call("Page.navigate", url=printed)
            page.wait(f"{ITEMS}.some(each => each.innerText.includes('00_explorer.ipynb'))", 120)
            page.evaluate("document.querySelector('.jp-BreadCrumbs-home').click()")
            page.wait(f"{ITEMS}.some(each => each.innerText.includes('params.yaml'))", 30)
            names = page.evaluate(f"{ITEMS}.map(each => each.innerText.split('\\n')[0].trim())")
            assert {"params.yaml", "tables", "figures", "notebooks"} <= set(names)
            own = (printed.split("/lab")[0], "data:", "blob:")
            assert [url for url in page.tried if not url.startswith((*own, "about:"))] == []
        with pytest.raises(BlockingIOError):
            proxy.accept()
