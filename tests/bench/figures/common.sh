# What the figures and their page share; sourced by each of them. A figure NAME.sh calls `figure`, which runs its
# function `measure`, for the table "$csv", then its function `headlines`, for "$text": a line that begins with "ours: "
# and one that begins with "paper: ". NAME.gp plots the table. `measure` fails if a result is wrong.
#
# QUICK=1: small sizes, for a CPU. MEASURE=0: only plot a table that is there. PLOT=0: only measure. COMMIT: the commit
# of the tree, where git does not know it.
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

# The column called $1 of the CSV $2, a value a line.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next } { print $at }' "$2"
}

# The median of the numbers on standard input.
median() {
    sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Field $1 of the line of the file $2, `list` or `papers`, that begins with $3.
entry() {
    awk -F'|' -v field="$1" -v key="$3" '$1 == key { print $field }' "$here/$2"
}

# How a figure is cited: "Sung et al., PPoPP 2014, figure 6".
cited() {
    echo "$(entry 2 papers "${1%%-*}"), $(entry 2 list "$1")"
}

# DEVICE|DRIVER|DATE|COMMIT of a measurement now.
origin() {
    "$tool" devices | awk -v OFS='|' -v date="$(date -u +%Y-%m-%d)" \
        -v commit="${COMMIT:-$(git -C "$here" describe --always --dirty --exclude '*' 2> /dev/null || echo unknown)}" '
        /^device / { used = /\)$/; named = 0; next }
        used && !named { device = $0; sub(/^ */, "", device); named = 1 }
        used && sub(/.*, driver /, "") { driver = $0 }
        END { print device, driver, date, commit }'
}

# Measures, plots and sums up, each unless it is switched off. NAME.origin is empty until the measurement succeeds.
figure() {
    if [ "${MEASURE:-1}" = 1 ]; then
        rm -f "$csv" "$svg" "$text"
        : > "$out/$name.origin"
        measured=$(origin)
        measure
        echo "$measured" > "$out/$name.origin"
    fi
    if [ "${PLOT:-1}" = 1 ]; then
        headlines > "$text"
        gnuplot -e "here='$here'; csv='$csv'; svg='$svg'; heading=\"$(entry 3 list "$name")\n$(cited "$name")\"; \
            device='$(cut -d'|' -f1 "$out/$name.origin" 2> /dev/null)'" "$here/$name.gp"
        cat "$text"
    fi
}
