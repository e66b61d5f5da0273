# C and C++ programs that use ipt as users do, in empty folders: by the lines of gen/doc/install.md for make install, pkg-config
# and CMake, with the shared and the static library. Then the installed tool and its pages. The names of the folders of the tree
# and the programs have a space and an umlaut; the installation folder's does not, because pkg-config's output is split at
# spaces. install.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1/a plàce with ü"
folder=$(cd "$1/a plàce with ü" && pwd)
tree=$folder/ipt
export folder
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
count=0

fail() {
    echo "install: $*"
    exit 1
}
run() { # NAME COMMAND...: fails with the command's output
    step=$1
    shift
    "$@" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; fail "$step"; }
}
needs() { # COMMAND PACKAGE
    command -v "$1" >/dev/null || { (cd "$root" && sh tests/skipped.sh note install "no $1: its ways to use ipt (Debian: $2)"); return 1; }
}

# The lines of the block of code number $2 in the section $1 of install.md.
document() {
    awk -v section="## $1" -v wanted="${2:-1}" '
        /^## / { here = $0 == section }
        here && /^```/ { inside = !inside; number += inside; next }
        here && inside && number == wanted' "$root/gen/doc/install.md"
}
# The lines of CMake's block that contain $1, without comments.
cmake_lines() {
    document CMake | grep -v '^#' | grep "$1" || fail "install.md has no line with $1"
}

# A program that includes the whole library, and one that links with it.
write_programs() { # FOLDER
    mkdir -p "$1"
    cat >"$1/linked.c" <<'EOF'
#include "ipt.h"
#include <stdio.h>
int main(void)
{
    static int matrix[70 * 50];
    int i;
    for (i = 0; i < 70 * 50; ++i)
        matrix[i] = i;
    if (ipt_transpose(matrix, 70, 50, sizeof *matrix)) {
        puts(ipt_context_error(NULL));
        return 1;
    }
    for (i = 0; i < 70 * 50; ++i)
        if (matrix[i] != i % 70 * 50 + i / 70)
            return 2;
    return ipt_version() != IPT_VERSION;
}
EOF
    { echo '#define IPT_IMPLEMENTATION'; cat "$1/linked.c"; } >"$1/whole.c"
    cp "$1/linked.c" "$1/linked.cc"
    cp "$1/whole.c" "$1/whole.cc"
}
works() { # NAME PROGRAM
    run "$1" "$2"
    count=$((count + 1))
}

write_cmake() { # FOLDER HOW-TO-GET-IPT
    write_programs "$1"
    ln -sfn "$tree" "$1/ipt"
    cat >"$1/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.14)
project(user C CXX)
$2
add_executable(program whole.c)
$(cmake_lines target_link_libraries)
foreach(language c cc)
  add_executable(whole_\${language} whole.\${language})
  target_link_libraries(whole_\${language} ipt::ipt)
  foreach(kind shared static)
    add_executable(\${kind}_\${language} linked.\${language})
    target_link_libraries(\${kind}_\${language} ipt::ipt_\${kind})
  endforeach()
endforeach()
EOF
}
try_cmake() { # NAME HOW OPTION...
    name=$1
    write_cmake "$folder/$name" "$2"
    shift 2
    run "$name: configure" cmake -S "$folder/$name" -B "$folder/$name/build" -DCMAKE_BUILD_TYPE=Debug "$@"
    run "$name: build" cmake --build "$folder/$name/build" -j2
    for program in program whole_c whole_cc shared_c shared_cc static_c static_cc; do
        works "$name: $program" "$folder/$name/build/$program"
    done
}

# A copy of the tree, with the built files.
mkdir -p "$tree/build" "$tree/tests/bench"
(cd "$root" && cp -Rp Makefile LICENSE README.md ipt.h ipt_kernels.h gen "$tree" && cp -Rp build/ipt build/tool "$tree/build" &&
    cp -Rp tests/bench/figures "$tree/tests/bench")
# Runs the lines of the document with this test's folders instead of the system's.
cd "$tree"
document "make install" | sed 's/ *#.*//' >"$folder/lines"
[ "$(cut -d ' ' -f 1,2 "$folder/lines" | tr '\n' ' ')" = "make install make install make uninstall " ] || fail "install.md has other lines for make install"
line() { # NUMBER WORDS...
    words=$(sed -n "$1s|/tmp/package|\"\$folder/package\"|p" "$folder/lines")
    [ -n "$words" ] || words=$(sed -n "$1p" "$folder/lines")
    shift
    run "$words" sh -c "$words \"\$@\"" line "$@"
}
line 2 CFLAGS=-std=c99
[ -f "$folder/package/usr/lib/libipt.a" ] || fail "make install with DESTDIR and PREFIX=/usr"
line 1 PREFIX="$prefix" CFLAGS=-std=c99
grep -q "LD_LIBRARY_PATH=$prefix/lib" "$folder/log" || fail "make install does not say how programs find the library"
[ -z "$(nm -D --defined-only "$prefix/lib/libipt.so" | grep -v ' ipt_')" ] || fail "libipt.so shows names that are not ipt_..."

if needs pkg-config pkg-config; then
    write_programs "$folder/pkg-config"
    cd "$folder/pkg-config"
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    [ "$(pkg-config --modversion ipt)" = "$(sh "$root/gen/version.sh")" ] || fail "pkg-config names another version"
    for language in c cc; do
        compiler=${CC:-cc}
        [ $language = c ] || compiler=${CXX:-c++}
        words=$(document pkg-config | sed "s/^cc /\$compiler /; s/program\.c/linked.$language/")
        run "pkg-config: $language" sh -c "compiler='$compiler'; $words"
        LD_LIBRARY_PATH=$prefix/lib works "pkg-config: $language" ./program
    done
fi
if needs cmake cmake; then
    try_cmake find_package "$(cmake_lines find_package)" -DCMAKE_PREFIX_PATH="$prefix"
    try_cmake add_subdirectory "$(cmake_lines add_subdirectory)"
    fetched=$(cmake_lines FetchContent)
    if needs git git; then
        mkdir "$folder/repository"
        cp -Rp "$tree/gen" "$tree/ipt.h" "$tree/ipt_kernels.h" "$folder/repository"
        (cd "$folder/repository" && git init -q -b main && git add -A &&
            git -c user.name=ipt -c user.email=ipt@localhost commit -q -m "the tree") || fail "git init"
        try_cmake fetch_content "$(echo "$fetched" | sed "s|URL|\"file://$folder/repository\"|")"
    else
        try_cmake fetch_content "$(echo "$fetched" | sed "s|GIT_REPOSITORY URL GIT_TAG main|SOURCE_DIR \"$tree\"|")"
    fi
    write_cmake "$folder/too_new" "find_package(ipt 999 REQUIRED)"
    ! cmake -S "$folder/too_new" -B "$folder/too_new/build" -DCMAKE_PREFIX_PATH="$prefix" >"$folder/log" 2>&1 ||
        fail "find_package accepts version 999"
    run "cmake: install" cmake -S "$tree/gen/cmake" -B "$folder/cmake" -DCMAKE_INSTALL_PREFIX="$folder/by_cmake"
    run "cmake: install" cmake --build "$folder/cmake" --target install -j2
    try_cmake found_by_cmake "find_package(ipt REQUIRED)" -DCMAKE_PREFIX_PATH="$folder/by_cmake"
fi

# The installed tool.
"$prefix/bin/ipt" plan 70x50:4 >"$folder/log" 2>&1 || fail "the installed tool"
grep -q '70 x 50 elements' "$folder/log" || fail "the installed tool says something else"
bash -c 'source "$1"; COMP_WORDS=(ipt transpose --move rotate-2); COMP_CWORD=3; _ipt; [ "${COMPREPLY[*]}" = rotate-270 ]' \
    bash "$prefix/share/bash-completion/completions/ipt" || fail "bash does not complete rotate-2"
# Completion of a name from a continuation line of the help, and help of several lines.
bash -c 'source "$1"; COMP_WORDS=(ipt plan --variant-010 swap-by-e); COMP_CWORD=3; _ipt; [ "${COMPREPLY[*]}" = swap-by-element ]' \
    bash "$prefix/share/bash-completion/completions/ipt" || fail "bash does not complete swap-by-e"
grep -q "as JSON to standard output, messages to standard error" "$prefix/share/fish/vendor_completions.d/ipt.fish" ||
    fail "fish's completions break off"
[ ! -e "$prefix/share/man/man1/ipt.1" ] ||
    (cd "$root" && sh tests/package/manual.sh "$prefix/share/man/man1/ipt.1" "$prefix/bin/ipt") || fail "ipt.1 lacks something"
cd "$tree"
line 3 PREFIX="$prefix"
left=$(find "$prefix" -type f -o -type l)
[ -z "$left" ] || fail "make uninstall left $left"
echo "install: $count programs ran and found their results right"
