#!/bin/sh
# Records skipped tests with their reasons: `skipped.sh begin` clears the record, `skipped.sh note NAME REASON` prints and adds
# an entry, `skipped.sh list` prints all entries and their number. To be run from the repository's root.
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
