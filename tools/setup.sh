#!/bin/sh
# Bring .venv to the locked versions. Returns at once when the stamp says that it is; called by every make target.
#
# The stamp's name is a checksum of what decides the environment, its text the folder that it was made for: a changed
# lock is installed over the old one, while a half-made or moved environment (scripts and the editable install hold
# absolute paths) is built anew. A stamp alone is not believed: packages that have gone since, and a Java that does not
# start, are installed again.
set -eu
cd "$(dirname "$0")/.."
venv=.venv
stamp="$venv/.stamp-$(cat requirements.lock pyproject.toml "$0" | cksum | tr ' \t' '--')"
here=$(pwd -P)

stop() {
    echo "$1" >&2
    exit 1
}

is_python_311() {
    "$1" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1
}

made_here() { # whether an earlier set-up ran to its end, in this folder, and its Python still starts
    cat "$venv"/.stamp-* 2>/dev/null | grep -qxF "$here" && is_python_311 "$venv/bin/python"
}

broken_parts() { # names of packages that are not whole any more
    "$venv/bin/python" tools/installed.py "$venv/installed.txt" 2>/dev/null || echo unknown
}

find_python() {
    for candidate in "${PYTHON:-python3.11}" python3 python; do
        if is_python_311 "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    stop "Python 3.11 is not found; install it with its venv module, or name it: make PYTHON=/path/to/python3.11 ..."
}

create() {
    python=$(find_python)
    rm -rf "$venv"
    "$python" -m venv "$venv" ||
        stop "$python cannot make a virtual environment; install its venv module (Debian: python3.11-venv)"
}

pip() { # errors only
    "$venv/bin/python" -m pip --disable-pip-version-check -qq "$@"
}

install() {
    # The lock's pins without hashes: constraints for what is installed before it, or, on other platforms, instead of it.
    sed -n 's/^\([A-Za-z0-9._-]*==[^ ;]*\).*/\1/p' requirements.lock >"$venv/constraints.txt"
    torch=$(sed -n 's/^torch==/torch==/p' "$venv/constraints.txt")
    if [ -n "$torch" ]; then
        # An extra index that may be out of reach: do not wait for it, the default index has torch too.
        pip install "$torch" -c "$venv/constraints.txt" ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} \
            --retries 0 --timeout 5 ||
            pip install "$torch" -c "$venv/constraints.txt" ||
            stop "torch could not be installed; see pip's message above"
    fi
    case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) pip install --no-deps --require-hashes -r requirements.lock ;;
    *) pip install -r requirements.in -c "$venv/constraints.txt" ;;
    esac || stop "the packages of requirements.lock could not be installed; see pip's message above and try again"
    pip install --no-deps --no-build-isolation --editable . ||
        stop "ovrag_core itself could not be installed; see pip's message above"
}

if made_here && [ -f "$stamp" ]; then
    broken=$(broken_parts)
    [ -z "$broken" ] && exit 0
    echo "Parts of .venv are gone and are installed again: $(echo $broken)" >&2
    # shellcheck disable=SC2086
    [ "$broken" = unknown ] || pip uninstall --yes $broken 2>/dev/null || create
else
    echo "Setting up .venv (a few minutes the first time); then \`. .venv/bin/activate\` enters it" >&2
    made_here || create
fi
rm -f "$venv"/.stamp-*
install
"$venv/bin/python" -m pip --disable-pip-version-check freeze --exclude-editable >"$venv/installed.txt"
broken=$(broken_parts)
[ -z "$broken" ] || stop "set-up ended, but these parts do not start: $(echo $broken); run \`make clean setup\`"
echo "$here" >"$stamp"
echo "Ready: . .venv/bin/activate" >&2
