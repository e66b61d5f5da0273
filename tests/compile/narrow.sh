#!/bin/sh
# The library with a size_t of 32 bits, and of 64 bits. Usage, from the repository root: tests/compile/narrow.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: tests/compile/narrow.sh FOLDER"; exit 2; }
folder=$1
mkdir -p "$folder"
compile() {
    gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -DIPT_NO_NATIVE -I. -Itests/support "$@" -o "$folder/narrow" tests/compile/narrow.c tests/support/fake_cl.c -lpthread
}
compile
"$folder/narrow"
echo "int main(void) { return sizeof(void *) != 4; }" > "$folder/pointers.c"
if ! gcc -m32 -include stdio.h -o "$folder/pointers" "$folder/pointers.c" -lpthread 2> "$folder/pointers.log"; then
    sh tests/skipped.sh note "narrow, 32 bits" "gcc -m32 makes no programs here, gcc-multilib would"
elif ! "$folder/pointers"; then
    sh tests/skipped.sh note "narrow, 32 bits" "such programs do not run here"
else
# OpenCL's headers are the same for every host, unlike other headers in that folder.
    compile -m32
    "$folder/narrow"
fi
