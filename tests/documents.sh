#!/bin/sh
# Checks statements of README.md and gen/doc about this tree. Usage, from the repository root:
#   tests/documents.sh speeds          the tables of speeds against gen/doc/speed.csv
#   tests/documents.sh programs        compiles the README's C programs
#   tests/documents.sh sizes [update]  the sizes in README.md and gen/doc/options.md, or writes them anew
#   tests/documents.sh sizes readme    only those in README.md
# CC is the compiler. The sizes are for gcc 12 on x86-64; other compilers skip them. A size may differ by 2 % or by a page.
set -eu
options=gen/doc/options.md
compiler=${CC:-gcc} # perhaps several words, such as ccache gcc
scratch=$(mktemp -d)
readonly scratch # the exit removes this folder
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "documents: $*" >&2
    exit 1
}

# program NUMBER: the README's C program of this number.
program()
{
    awk -v number="$1" '/^```c$/ { ++count; next } /^```$/ { if (count == number) exit } count == number' README.md
}

# A row of speed.csv is METHOD,ELEMENTS,EXTRA,MEDIAN,P10,DATE,TREE,"MATRICES". The README has exactly the rows with a p10.
# performance.md has all rows, with dates and trees.
check_speeds()
{
    awk '
    function wrong(text) { print "documents: " text; failed = 1 }
    function cells(line) { gsub(/^\| | \|$/, "", line); return split(line, cell, / \| /) }
    FILENAME ~ /csv$/ {
        if (!/^#/ && FNR > 1 && split($0, field, ",") > 7 && field[5] != "" && field[5] != "p10") {
            name = $0
            sub(/^[^"]*"/, "", name)
            sub(/"$/, "", name)
            median[name] = field[4]; p10[name] = field[5]; date[name] = field[6]; tree[name] = field[7]
            first = first == "" || field[6] < first ? field[6] : first
            last = field[6] > last ? field[6] : last
        }
        next
    }
    FILENAME ~ /README/ {
        if (/^\| matrices \|/) table = 1
        else if (!/^\|/) table = 0
        else if (table && !/^\| ---/) {
            cells($0)
            ++rows
            if (!(cell[1] in median)) wrong("README.md: \"" cell[1] "\" is no row of gen/doc/speed.csv")
            else if (cell[2] != median[cell[1]] || cell[3] != p10[cell[1]])
                wrong("README.md: \"" cell[1] "\" is " cell[2] " " cell[3] ", gen/doc/speed.csv has " median[cell[1]] " " p10[cell[1]])
        }
        text = text " " $0
        next
    }
    /^\| / {
        cells($0)
        if (cell[1] in median) {
            ++found
            if (cell[2] != median[cell[1]] || cell[3] != p10[cell[1]] || cell[4] != date[cell[1]] ", " tree[cell[1]])
                wrong("performance.md: \"" cell[1] "\" differs from gen/doc/speed.csv")
        }
    }
    END {
        for (name in median) ++all
        if (all == 0) wrong("gen/doc/speed.csv has no figures of ipt")
        if (rows != all) wrong("README.md has " rows " rows of speeds, gen/doc/speed.csv has " all)
        if (found != all) wrong("performance.md has " found " rows of gen/doc/speed.csv, which has " all)
        if (!index(text, "from " first " to " last)) wrong("README.md: the figures are from " first " to " last)
        exit failed
    }' gen/doc/speed.csv README.md gen/doc/performance.md
}

check_programs()
{
    program 1 > "$scratch/first.c"
    {
        echo '#include "ipt.h"'
        echo 'void second(cl_context cl_context, cl_device_id cl_device, cl_command_queue queue, cl_mem buffer,'
        echo '            ipt_context *context, ipt_plan *plan, cl_event event)'
        echo '{'
        program 2
        echo '}'
    } > "$scratch/second.c"
    for name in first second; do
        $compiler -std=c99 -O0 -Wall -Wextra -Werror -Wno-unused-result -I. -c -o "$scratch/$name.o" "$scratch/$name.c" ||
            fail "the README's $name C program does not compile"
    done
    for number in 1 2; do
        [ "$(program $number | wc -l)" -le 4 ] || fail "the README's C program $number has more than 4 lines"
    done
}

# size_of LEVEL OPTION...: bytes of the README's first program.
size_of()
{
    program 1 > "$scratch/program.c"
    $compiler -std=c99 -s -I. "$@" -o "$scratch/program" "$scratch/program.c" -lOpenCL -lpthread || fail "cannot build with $*"
    stat -c %s "$scratch/program"
}

# The options that a row of the table names: "all" are those of the first table, minus those after "but", plus those after
# "and".
options_of()
{
    case $1 in
    none) ;;
    all*)
        without=$(echo "$1" | sed -n 's/.* but `\([A-Z_]*\)`.*/\1/p')
        sed -n '/^| options /q; s/^| `\(IPT_NO_[A-Z_]*\)` | .* | .* |$/\1/p' $options | grep '[A-Z]' | grep -vx "${without:-nothing}" | sort -u
        echo "$1" | sed -n 's/.* and `\([A-Z_]*\)`.*/\1/p'
        ;;
    *) echo "$1" | tr -d '`' ;;
    esac | sed 's/^/-D/'
}

# compare NAME STATED MEASURED PAGE: fails if they differ by more than 2 % and by more than PAGE. All have one unit.
compare()
{
    awk -v stated="$2" -v measured="$3" -v page="$4" 'BEGIN {
        allowed = stated * 0.02 > page ? stated * 0.02 : page
        exit !(measured - stated <= allowed && stated - measured <= allowed)
    }' ||
        { echo "documents: $1: $2 is stated, $3 measured: run make check ONLY=sizes UPDATE=1"; : > "$scratch/differs"; }
}

with_commas()
{
    echo "$1" | sed -e ':a' -e 's/\([0-9]\)\([0-9][0-9][0-9]\)\($\|,\)/\1,\2\3/;ta'
}

# readme_size PATTERN BYTES: the number before PATTERN in the README, in KB.
readme_size()
{
    kilobytes=$((($2 + 500) / 1000))
    if [ "$mode" = update ]; then
        sed "s/[0-9][0-9]* KB$1/$kilobytes KB$1/" README.md > "$scratch/text"
        cat "$scratch/text" > README.md
    fi
    stated=$(sed -n "s/.*[^0-9]\([0-9][0-9]*\) KB$1.*/\1/p" README.md)
    [ -n "$stated" ] || fail "README.md has no size before \"$1\""
    compare "README.md: KB$1" "$stated" "$kilobytes" 5
}

# Each row of the last table of options.md: NAME | bytes by -O2 | bytes by -Os.
options_sizes()
{
    sed -n '/^| options | `-O2` | `-Os` |$/,/^$/s/^| \(.*\) | [0-9,]* | [0-9,]* |$/\1/p' $options > "$scratch/rows"
    [ -s "$scratch/rows" ] || fail "$options has no table of sizes"
    cp $options "$scratch/options"
    while read -r name; do
        # shellcheck disable=SC2046 # each option is a word
        set -- $(options_of "$name")
        fast=$(size_of -O2 "$@")
        small=$(size_of -Os "$@")
        awk -v name="$name" -v fast="$(with_commas "$fast")" -v small="$(with_commas "$small")" '
            index($0, "| " name " | ") == 1 && /\| [0-9,]+ \| [0-9,]+ \|$/ { $0 = "| " name " | " fast " | " small " |" }
            { print }' "$scratch/options" > "$scratch/text"
        cp "$scratch/text" "$scratch/options"
        stated=$(grep -F "| $name | " $options | tr -d , | sed -n 's/.* | \([0-9]*\) | \([0-9]*\) |$/\1 \2/p')
        [ "$mode" = update ] || compare "$options: $name, -O2" "${stated% *}" "$fast" 4096
        [ "$mode" = update ] || compare "$options: $name, -Os" "${stated#* }" "$small" 4096
    done < "$scratch/rows"
    [ "$mode" != update ] || cat "$scratch/options" > $options
}

check_sizes()
{
    case $($compiler -dumpmachine)/$($compiler -dumpversion)/$(program 1 | $compiler -E -dM -x c - -I. | grep -c __clang__) in
    x86_64*/12*/0) ;;
    *)
        sh tests/skipped.sh note documents "sizes of programs are those of gcc 12 on x86-64"
        exit 0
        ;;
    esac
    readme_size ", stripped" "$(size_of -O2)"
    readme_size " with \`IPT_STATIC\`" "$(size_of -O2 -DIPT_STATIC)"
    # shellcheck disable=SC2046 # each option is a word
    readme_size " without all optional parts" "$(size_of -O2 $(options_of "all and \`IPT_STATIC\`"))"
    [ "$mode" = readme ] || options_sizes
    [ ! -e "$scratch/differs" ] || exit 1
}

mode=${2-}
case ${1-}:$mode in
speeds:) check_speeds ;;
programs:) check_programs ;;
sizes: | sizes:update | sizes:readme) check_sizes ;;
*)
    echo "usage: documents.sh speeds | programs | sizes [update | readme]" >&2
    exit 2
    ;;
esac
