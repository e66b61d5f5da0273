#!/bin/sh
# Parts that a compile-time option leaves out fail with a message that names the option; everything else works. Usage,
# from the repository root: tests/compile/options.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: tests/compile/options.sh FOLDER"; exit 2; }
folder=$1
rm -rf "$folder"
mkdir -p -m 700 "$folder/cache" "$folder/empty"
IPT_CACHE_DIR=$PWD/$folder/cache
export IPT_CACHE_DIR

run() { # OPTIONS, then the program's argument
    ${CC:-gcc} -std=c99 -Wall -Wextra -Wpedantic -Werror -DIPT_NO_NATIVE -I. $1 -o "$folder/options" tests/compile/options.c -lOpenCL -lpthread
    "$folder/options" ${2-} || { echo "options: failed with ${1:-no option}"; exit 1; }
}

run "" # fills the cache folder
small="-DIPT_NO_PAPERS -DIPT_NO_HOST_STREAMING -DIPT_NO_WISDOM -DIPT_NO_OFFLINE -DIPT_NO_THREADS -DIPT_NO_BATCH -DIPT_NO_BOXES -DIPT_NO_VIEWS"
count=3
for option in NO_PAPERS NO_HOST_STREAMING NO_STORAGE NO_OFFLINE NO_WISDOM NO_DISK_CACHE NO_THREADS NO_BATCH NO_BOXES NO_VIEWS NO_KERNEL_SOURCE; do
    run "-DIPT_$option"
    count=$((count + 1))
done
run "$small -DIPT_NO_KERNEL_SOURCE"
IPT_CACHE_DIR=$PWD/$folder/empty
run "$small -DIPT_NO_KERNEL_SOURCE" missing
echo "options: $count builds passed"
