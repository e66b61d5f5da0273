# For the figures and their page, which source this file. A figure NAME.sh defines two functions and calls `figure`.
# `measure` writes the table "$csv", and fails if a result is wrong or missing. `headlines` prints a line that begins with
# "ours: " and a line that begins with "paper: ", which `figure` writes to "$text". NAME.gp plots the table. A figure
# fails if its table has no row, or a row without its speed or its verification, and if gnuplot prints a warning.
#
# QUICK=1: small sizes, for a CPU. MEASURE=0: only plot an existing table. PLOT=0: only measure. COMMIT: the commit of the
# tree, if git cannot name it.
set -eu
tool=${TOOL:-build/ipt}
out=${OUT:-build/figures}
quick=${QUICK:-0}
name=$(basename "$0" .sh)
here=$(dirname "$0")
csv=$out/$name.csv
svg=$out/$name.svg
text=$out/$name.txt
mkdir -p "$out"

# Prints column $1 of the CSV file $2, one value a line.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next } { print $at }' "$2"
}

# The median of the numbers on standard input.
median() {
    sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Field $1 of the line that begins with $3 in the file $2, `list` or `papers`.
entry() {
    awk -F'|' -v field="$1" -v key="$3" '$1 == key { print $field }' "$here/$2"
}

# The citation of a figure: "Sung et al., PPoPP 2014, figure 6".
cited() {
    echo "$(entry 2 papers "${1%%-*}"), $(entry 2 list "$1")"
}

# DEVICE|DRIVER|DATE|COMMIT of the current measurement.
origin() {
    "$tool" devices | awk -v OFS='|' -v date="$(date -u +%Y-%m-%d)" \
        -v commit="${COMMIT:-$(git -C "$here" describe --always --dirty --exclude '*' 2> /dev/null || echo unknown)}" '
        /^device / { used = /\)$/; named = 0; next }
        used && !named { device = $0; sub(/^ */, "", device); named = 1 }
        used && sub(/.*, driver /, "") { driver = $0 }
        END { print device, driver, date, commit }'
}

# Fails unless the table $1 has rows, and every row has all of its numbers: a wrong result has no speed. "verified" and
# "checked" say how many elements were right, or 1.
check_table() {
    awk -F, -v name="$name" '
        NR == 1 { for (i = 1; i <= NF; ++i) title[i] = $i; columns = NF; next }
        {
            wrong = ""
            for (i = 1; i <= columns; ++i) {
                if (title[i] ~ /^(verified|checked)$/ && !($i + 0 > 0)) wrong = title[i]
                if (title[i] ~ /^(gb_per_s|gbps|GB\/s|ratio|seconds|median_percent)$/ && $i !~ /^[0-9.]+(e[-+]?[0-9]+)?$/) wrong = title[i]
            }
            if (wrong != "") { print name ": a row is wrong: " wrong " is missing or 0: " $0; bad = 1 }
        }
        END { if (NR < 2) { print name ": the table has no row"; bad = 1 } exit bad }' "$1" >&2
}

# Measures one figure at a time, also under `make -j`: two figures would slow each other down, and some share a table.
measure_alone() {
    exec 9> "$out/lock"
    flock 9
    measured=$(origin)
    measure
    check_table "$csv"
    exec 9>&-
}

# Plots the table. A warning of gnuplot is an error.
plot() {
    gnuplot -e "here='$here'; csv='$csv'; svg='$svg'; heading=\"$(entry 3 list "$name")\n$(cited "$name")\"; \
        device='$(cut -d'|' -f1 "$out/$name.origin" 2> /dev/null)'" "$here/$name.gp" 2> "$out/$name.warnings" || :
    [ ! -s "$out/$name.warnings" ] || {
        echo "$name: gnuplot says:"
        cat "$out/$name.warnings"
        rm -f "$svg"
        return 1
    } >&2
    rm "$out/$name.warnings"
    [ -s "$svg" ] || { echo "$name: gnuplot drew nothing" >&2; return 1; }
}

# Measures, plots and prints the headlines. NAME.origin is empty until the measurement succeeds.
figure() {
    if [ "${MEASURE:-1}" = 1 ]; then
        rm -f "$csv" "$svg" "$text"
        : > "$out/$name.origin"
        measure_alone
        echo "$measured" > "$out/$name.origin"
    fi
    if [ "${PLOT:-1}" = 1 ]; then
        headlines > "$text"
        plot
        cat "$text"
    fi
}
