# Builds the Conan package from the tree, and a program that requires it. PYTHON=... conan.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1/user"
folder=$(cd "$1" && pwd)
skip() {
    (cd "$root" && sh tests/skipped.sh note conan "$1")
    exit 0
}
run() { "$@" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; echo "conan: $* failed"; exit 1; }; }
"${PYTHON:-python3}" -m venv "$folder/venv" >"$folder/log" 2>&1 || skip "no virtual environment (Debian: python3-venv)"
"$folder/venv/bin/pip" install -q conan >"$folder/log" 2>&1 || skip "PyPI cannot be reached"
command -v cmake >/dev/null || skip "no cmake"
conan=$folder/venv/bin/conan
export CONAN_HOME="$folder/home" # do not use the user's folder
run "$conan" profile detect
run "$conan" create --no-remote "$root/gen/package/conan"
cd "$folder/user"
cat >user.c <<'EOF'
#include "ipt.h"
int main(void)
{
    static int matrix[6] = {0, 1, 2, 3, 4, 5};
    return ipt_transpose(matrix, 2, 3, sizeof *matrix) || matrix[1] != 3 || matrix[4] != 2;
}
EOF
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.15)
project(user C)
find_package(ipt REQUIRED)
add_executable(user user.c)
target_link_libraries(user ipt::ipt_static)
EOF
run "$conan" install --no-remote --requires "ipt/$(sh "$root/gen/version.sh")" -g CMakeDeps -g CMakeToolchain --output-folder .
run cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE="$PWD/conan_toolchain.cmake" -DCMAKE_BUILD_TYPE=Release
run cmake --build build
run build/user
! readelf -d build/user | grep -q libipt || { echo "conan: ipt::ipt_static is the shared library"; exit 1; }
echo "conan: the package is made, and a program that requires it runs"
