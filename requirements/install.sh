#!/bin/sh
# Make or refresh the virtualenv: `sh requirements/install.sh base|dev`.
# Does nothing when the locked file is the one already installed, so a second `make run` starts at once.
set -eu

kind=$1
cd "$(dirname "$0")/.."
locked=requirements/$kind.txt
stamp=.venv/.installed-$kind

fail() {
    echo "handover: $*" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null 2>&1 && is_new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    found=$(python3 --version 2>&1 || echo "no python3")
    fail "Python 3.11 or newer is needed, and this machine has $found. Install one, or name it: make run PYTHON=/path/to/python3.12"
}

make_venv() {
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$("$python" --version) has no venv module. On Debian or Ubuntu: apt-get install python3-venv. Then try again."
    echo "handover: making the virtualenv .venv with $("$python" --version)"
    "$python" -m venv --clear .venv || fail "The virtualenv could not be made in $(pwd)/.venv; the reason is above."
}

# A virtualenv whose Python was removed or is too old is made again.
if ! is_new_enough .venv/bin/python; then
    make_venv
fi

# What was installed is remembered by content, and by the Python it was installed for.
wanted=$(.venv/bin/python -c '
import hashlib, pathlib, sys
print(sys.version.split()[0], hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest())' "$locked")
if [ "$(cat "$stamp" 2>/dev/null || true)" = "$wanted" ]; then
    exit 0
fi
echo "handover: installing $locked (once; needs the network)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r "$locked" ||
    fail "The packages in $locked could not be installed; pip's reason is above. Without a network, point PIP_INDEX_URL at a mirror."
echo "$wanted" > "$stamp"
