#!/bin/sh
# Runs every example; each checks its own result. Usage, from the repository root: tests/examples.sh FOLDER, which contains the
# built examples. For Windows, RUN is the command that runs them, and SUFFIX the end of their names.
set -eu
[ $# -eq 1 ] || { echo "usage: tests/examples.sh FOLDER"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
${RUN-} "$1/make_picture${SUFFIX-}" 160 107 "$work/picture.ppm" > "$work/log"
for source in examples/[0-9]*.c; do
    name=$(basename "$source" .c)
    case $name in
    13_ranks) continue ;; # needs MPI: see tests/mpi/run.sh
    04_rgb_planes) set -- "$1" "$work/picture.ppm" "$work/swapped.ppm" ;;
    07_start_up) set -- "$1" "$work/kernels" ;;
    *) set -- "$1" ;;
    esac
    folder=$1
    shift
    ${RUN-} "$folder/$name${SUFFIX-}" "$@" > "$work/log" 2>&1 || { echo "examples: $name failed:"; cat "$work/log"; exit 1; }
    set -- "$folder"
    count=$((count + 1))
done
# A second start of 07_start_up must compile nothing.
${RUN-} "$1/07_start_up${SUFFIX-}" "$work/kernels" > "$work/log"
if grep -q built "$work/log" || ! grep -q loaded "$work/log"; then
    echo "examples: 07_start_up compiled at its second start:"
    cat "$work/log"
    exit 1
fi
echo "examples: $count ran and found their results right"
