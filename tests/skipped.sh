#!/bin/sh
# Records skipped tests with their reasons: `skipped.sh begin` clears the record, `skipped.sh note NAME REASON` prints and adds
# an entry, `skipped.sh passed NAME` prints all entries, and a last line that NAME has passed, with the number of entries. Test
# programs add entries as lines of a number, a tab and a reason. Run it from the repository's root.
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
    printf '1\t%s: %s\n' "$2" "$3" >> $list
    ;;
passed)
    awk -F '\t' -v name="$2" '
        { if (!($2 in number)) order[++count] = $2; number[$2] += $1; all += $1 }
        END {
            if (all) print "skipped:"
            for (i = 1; i <= count; ++i) printf "  %d x %s\n", number[order[i]], order[i]
            printf "%s: passed, %d skipped\n", name, all
        }' $list
    ;;
*)
    echo "usage: skipped.sh begin | note NAME REASON | passed NAME" >&2
    exit 2
    ;;
esac
