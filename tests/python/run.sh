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
"$folder/venv/bin/python" -c "import torch" 2>>"$folder/log" || (cd "$root" && sh tests/skipped.sh note python "no torch: test_torch.py")
# CUDA's tests run on the stand-in, which computes by an OpenCL device.
if sh "$root/tests/devices/usable.sh" "$root/build/ipt" >>"$folder/log" 2>&1 && "${CC:-gcc}" -std=gnu11 -O1 -w -I"$root" \
    -I"$root/tests/support" -fPIC -shared -o "$folder/stand_in.so" "$root/tests/cuda/stand_in.c" -lOpenCL -lpthread 2>>"$folder/log"; then
    IPT_CUDA_LIBRARY="$(cd "$folder" && pwd)/stand_in.so"
    IPT_NVRTC_LIBRARY=$IPT_CUDA_LIBRARY
    export IPT_CUDA_LIBRARY IPT_NVRTC_LIBRARY
else
    (cd "$root" && sh tests/skipped.sh note python "no stand-in of CUDA: test_cuda.py")
fi
rm -rf "$root/gen/python/build" "$root/gen/python/ipt.egg-info" # pip leaves them: other checks would read them
cd "$folder" # import nothing from the tree
"venv/bin/python" -m doctest "$root/README.md" "$root/gen/python/README.md"
"venv/bin/python" -m pytest -q -p no:cacheprovider "$root/tests/python"
