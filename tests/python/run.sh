# Installs the Python package from an empty folder into a new environment, and runs its tests and the lines of the
# READMEs. PYTHON=... run.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
skip() {
    (cd "$root" && sh tests/skipped.sh note python "$1")
    exit 0
}
rm -rf "$folder"
mkdir -p "$folder"
"${PYTHON:-python3}" -m venv "$folder/venv" >"$folder/log" 2>&1 || skip "no virtual environment (Debian: python3-venv)"
"$folder/venv/bin/pip" install -q pytest cffi setuptools numpy >>"$folder/log" 2>&1 || skip "PyPI cannot be reached"
"$folder/venv/bin/pip" install -q pyopencl tqdm >>"$folder/log" 2>&1 || echo "python: pyopencl could not be installed: its tests are skipped"
"$folder/venv/bin/pip" install -q "$root/gen/python" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; echo "python: pip install failed"; exit 1; }
cd "$folder" # import nothing from the tree
"venv/bin/python" -m doctest "$root/README.md" "$root/gen/python/README.md"
"venv/bin/python" -m pytest -q -p no:cacheprovider "$root/tests/python"
