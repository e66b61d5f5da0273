# Tests vcpkg's port of the release without vcpkg: the manifest, the portfile with substitutes for vcpkg's functions
# (vcpkg.cmake), and programs that use the package as in the port's usage text. vcpkg.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
skip() {
    (cd "$root" && sh tests/skipped.sh note vcpkg "$1")
    exit 0
}
fail() {
    echo "vcpkg: $*"
    exit 1
}
run() { "$@" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; fail "$* failed"; }; }
cd "$root"
git rev-parse --git-dir >/dev/null 2>&1 || skip "no git repository to make the release of"
command -v cmake >/dev/null || skip "no cmake"
rm -rf "$1"
mkdir -p "$1/user"
folder=$(cd "$1" && pwd)
run sh gen/package/dist.sh build/single/ipt.h "$folder"
cd "$folder"
tar -xzf ipt-*.tar.gz
port=$(echo "$PWD"/ipt-*/gen/package/vcpkg/ipt)
"${PYTHON:-python3}" - "$port/vcpkg.json" "$(sh "$root/gen/version.sh")" <<'END' || fail "vcpkg.json"
import json, re, sys
manifest = json.load(open(sys.argv[1], encoding="utf-8"))
assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]) and manifest["name"] == "ipt"
assert manifest["version"] == sys.argv[2], "version is not the release's"
assert set(manifest) <= {"name", "version", "port-version", "description", "homepage", "documentation", "license",
                         "supports", "dependencies", "features", "default-features", "maintainers"}
needs = {need if isinstance(need, str) else need["name"]: need for need in manifest["dependencies"]}
assert set(needs) == {"opencl", "vcpkg-cmake", "vcpkg-cmake-config"}
assert all(needs[name]["host"] is True for name in needs if name != "opencl")
END
cat >user/main.c <<'END'
#ifdef WHOLE
#define IPT_IMPLEMENTATION
#endif
#include "ipt.h"
int main(void)
{
    static int matrix[6] = {0, 1, 2, 3, 4, 5};
    return ipt_transpose(matrix, 2, 3, sizeof *matrix) || matrix[1] != 3 || matrix[4] != 2;
}
END
# Prints indented paragraph NUMBER of the usage text: the commands.
usage() { awk -v number="$1" '!/^    / { count += inside; inside = 0 } /^    / { inside = 1; if (count == number) print }' "$port/usage"; }
for linkage in static dynamic; do
    run cmake -DPORT_DIR="$port" -DLINKAGE=$linkage -DPACKAGES="$folder/$linkage" -DBUILDS="$folder/builds_$linkage" \
        -P "$root/tests/package/vcpkg.cmake"
    for way in 0 1; do
        {
            printf 'cmake_minimum_required(VERSION 3.14)\nproject(user C)\nadd_executable(main main.c)\n'
            usage $way
            [ $way = 0 ] || echo 'target_compile_definitions(main PRIVATE WHOLE)'
        } >user/CMakeLists.txt
        for kind in Release Debug; do
            build=$folder/user_$linkage$way$kind
            run cmake -S user -B "$build" -DCMAKE_PREFIX_PATH="$folder/$linkage" -DCMAKE_BUILD_TYPE=$kind
            run cmake --build "$build"
            run "$build/main"
            linked=$(sed 's/.* -o main //' "$build/CMakeFiles/main.dir/link.txt")
            case $way$kind$linked in
            0Debug*$linkage/debug/lib/libipt* | 0Release*$linkage/lib/libipt*) ;;
            0*) fail "the $linkage library of $kind is not linked: $linked" ;;
            *libipt*) fail "ipt::ipt links with a library: $linked" ;;
            esac
        done
    done
done
echo "vcpkg: the port makes both packages, and 8 programs use them; vcpkg itself did not run"
