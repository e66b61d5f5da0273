#!/bin/sh
# What a run of the tests has left out, each with its reason: `skipped.sh begin` forgets, `skipped.sh note NAME REASON`
# says and remembers, `skipped.sh list` prints all again with their number. To be run from the repository's root.
set -eu
list=build/skipped
case $1 in
begin)
    mkdir -p build
    : > $list
    ;;
note)
    mkdir -p build
    echo "$2: skipped: $3"
    echo "$2: $3" >> $list
    ;;
list)
    count=$(sort -u $list | wc -l)
    [ "$count" -eq 0 ] || { echo "skipped, besides what the test programs name: $count"; sort -u $list | sed 's/^/  /'; }
    ;;
*)
    echo "usage: skipped.sh begin | note NAME REASON | list" >&2
    exit 2
    ;;
esac
