"""Serve a language model to this machine, as an OpenAI-compatible server: `make model`, or with `MODEL=file.gguf`.

Without a file, the model of the recorded runs is taken from `models/`, where it is fetched to from its publisher at a
pinned revision; a fetch that was stopped goes on where it was. Ends with Ctrl-C.
"""

import argparse
import hashlib
import os
import socket
import sys
import threading
from pathlib import Path

import psutil
from tqdm import tqdm

REPOSITORY = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
REVISION = "f86cb2c1fa58255f8052cc32aeede1b7482d4361"
FILE = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SIZE = 1_117_320_768  # bytes
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
FOLDER = Path("models")
SPARE = 1_500_000_000  # bytes beside the weights: contexts, buffers, the server itself
BLOCK = 1 << 22  # bytes read at once


def found(path: Path | None) -> Path:
    """The file to serve: the one named, else the pinned one, fetched where it is not there. Exits with a sentence."""
    if path is None:
        path = FOLDER / FILE
        if not path.exists():
            fetch(path)
    if not path.is_file():
        sys.exit(f"{path} is not there; name a GGUF file, or leave MODEL out to fetch {FILE}")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            sys.exit(f"{path} is no GGUF file; name one, or leave MODEL out to fetch {FILE}")
    if path.name == FILE:
        check(path)
    return path


def fetch(path: Path) -> None:
    """Bring the pinned model from its publisher. Exits with a sentence where that is out of reach."""
    os.environ["HF_HUB_OFFLINE"] = "0"  # the project's own setting is for everything else
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - reads the environment as it is imported

    print(f"fetching {FILE} ({SIZE / 1e9:.1f} GB) from https://huggingface.co/{REPOSITORY}", file=sys.stderr)
    try:
        hf_hub_download(REPOSITORY, FILE, revision=REVISION, local_dir=path.parent)
    except KeyboardInterrupt:
        sys.exit("stopped; what has come is kept, and `make model` goes on from there")
    except Exception as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        sys.exit(f"{FILE} could not be fetched ({first[0]}); bring it another way and name it: make model MODEL=path")


def check(path: Path) -> None:
    """Compare a file with the publisher's checksum. Exits with a sentence where it is another."""
    if path.stat().st_size != SIZE:
        sys.exit(f"{path} has {path.stat().st_size:,} of {SIZE:,} bytes; delete it, and `make model` fetches it anew")
    digest = hashlib.sha256()
    with path.open("rb") as file, tqdm(total=SIZE, unit="B", unit_scale=True, desc="checksum", leave=False) as bar:
        while block := file.read(BLOCK):
            digest.update(block)
            bar.update(len(block))
    if digest.hexdigest() != SHA256:
        sys.exit(f"{path} has another checksum than its publisher's; delete it, and `make model` fetches it anew")


def check_room(path: Path) -> None:
    """Exit with a sentence where the model would not fit into memory."""
    free, needed = psutil.virtual_memory().available, path.stat().st_size + SPARE
    if free < needed:
        sys.exit(f"{path.name} needs {needed / 1e9:.1f} GB of memory and {free / 1e9:.1f} are free; end other programs")


def check_port(port: int) -> None:
    """Exit with a sentence where another program listens."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            sys.exit(f"port {port} is in use; end what listens there, or take another: make model PORT={port + 1}")


def serve(path: Path, *, port: int, context: int, at_once: int, threads: int) -> None:
    """Serve until the process is ended. Exits with a sentence where the file cannot be loaded."""
    import xllamacpp  # noqa: PLC0415 - takes a moment, and has nothing to say of a wrong file

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {path.stem}
    parameters.n_ctx, parameters.n_parallel = context * at_once, at_once
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.port, parameters.hostnames = port, ["127.0.0.1"]
    parameters.verbosity = 0
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError:
        sys.exit(f"{path} cannot be loaded: it is cut off, or of a kind that llama.cpp does not know; fetch it anew")
    settings = f"-S llm.provider=openai -S llm.base_url={server.listening_address}/v1 -S llm.model={path.stem}"
    print(f"serving {path.name} at {server.listening_address}/v1 until Ctrl-C; ask it with", flush=True)
    print(f"    ovrag ask … {settings}", flush=True)
    threading.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help=f"a GGUF file; by default {FOLDER / FILE}")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--context", type=int, default=8192, help="tokens of prompt and reply")
    parser.add_argument("--at-once", type=int, default=4, help="calls that are answered at once: together faster")
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    parser.add_argument("--threads", type=int, default=cores, help="fewer where other programs are busy: they spin")
    asked = parser.parse_args()
    path = found(asked.model)
    check_room(path)
    check_port(asked.port)
    try:
        serve(path, port=asked.port, context=asked.context, at_once=asked.at_once, threads=asked.threads)
    except KeyboardInterrupt:
        print("stopped")


if __name__ == "__main__":
    main()
