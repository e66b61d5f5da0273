# Shared by the figures and their page, which source this file. A figure NAME.sh defines two functions and calls `figure`.
# `measure` writes the table "$csv", and fails if a result is wrong. `headlines` prints a line that begins with "ours: " and
# a line that begins with "paper: "; they go to "$text". NAME.gp plots the table.
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

# Measures, plots and prints the headlines. NAME.origin is empty until the measurement succeeds.
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
