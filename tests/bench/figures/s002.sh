# For the figures of Gómez-Luna et al. 2016: source it after common.sh.
#
# COUNT: the number of matrices; the paper has 5000. Matrices with measurements of other implementations come first.
# Several figures share a table of measurements, which is measured again only if the tool or the settings change.
peers=$here/peers.csv # other implementations in GB/s; the file names their device
measurer=${S002:-$(dirname "$tool")/s002}
if [ "${MEASURE:-1}" = 1 ] && ! [ -x "$measurer" ]; then
    echo "$measurer is missing: make it from tests/bench/s002.c" >&2
    exit 1
fi

# Column $2 of the lines of the CSV file $1 that match all conditions NAME=VALUE in $3 ...
select_column() {
    selected=$1
    wanted=$2
    shift 2
    awk -F, -v wanted="$wanted" -v conditions="$*" '
        NR == 1 {
            for (i = 1; i <= NF; ++i) at[$i] = i
            count = split(conditions, condition, " ")
            next
        }
        {
            for (i = 1; i <= count; ++i) {
                split(condition[i], pair, "=")
                if ($at[pair[1]] != pair[2]) next
            }
            if ($at[wanted] != "") print $at[wanted]
        }' "$selected"
}

# Writes shapes to the file $1: those of the peers' list $2 (-: none), then random ones, COUNT or $3 in all. With QUICK it
# writes $4 random ones. The sides are from $5 to $6 and $7 to $8.
write_shapes() {
    shapes=${COUNT:-$3}
    : > "$1"
    if [ "$quick" = 1 ]; then
        shapes=${COUNT:-$4}
    else
        awk -F, -v list="$2" -v most="$shapes" '$2 == list && count++ < most { print $3, $4 }' "$peers" > "$1"
    fi
    missing=$((shapes - $(wc -l < "$1")))
    if [ "$missing" -gt 0 ]; then
        "$measurer" draw "$missing" 2 "$5" "$6" "$7" "$8" >> "$1"
    fi
}

# The paper's random matrices, with sides below the bound $5 (QUICK: small sides), and its skinny ones: $1 to $4 as above.
general_shapes() {
    if [ "$quick" = 1 ]; then
        write_shapes "$1" "$2" "$3" "$4" 100 400 100 400
    else
        write_shapes "$1" "$2" "$3" "$4" 1000 $(($5 - 1)) 1000 $(($5 - 1))
    fi
}
skinny_shapes() {
    if [ "$quick" = 1 ]; then
        write_shapes "$1" "$2" "$3" "$4" 1000 10000 2 32
    else
        write_shapes "$1" "$2" "$3" "$4" 10000 10000000 2 32
    fi
}

# Writes the shared table $1, the standard output of the command $2 ..., unless the table is current.
share() {
    table=$1
    shift
    settings="quick $quick, count ${COUNT:-}, device ${IPT_DEVICE:-}"
    if [ -e "$table" ] && [ "$table" -nt "$tool" ] && [ "$table" -nt "$measurer" ] &&
        [ "$(cat "$table.settings")" = "$settings" ]; then
        measured=$(cat "$table.origin") # the table may be from an earlier run
        return
    fi
    "$@" > "$table.new"
    echo "$settings" > "$table.settings"
    echo "$measured" > "$table.origin"
    mv "$table.new" "$table"
}

# Reads the table of methods on standard input. Prints a line for each speed, and the peers' speeds on the same shapes. A
# shape's class is that of the paper's section 7.1: "large" if algorithm 2 finds tiles above 4 and 6 that fit.
add_peers() {
    awk -F, -v OFS=, '
        FNR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i }
        NR == 1 { for (i = 6; i < NF; ++i) series[i] = $i; copy = NF; next }
        FNR == NR { peer[$3 OFS $4 OFS $5] = $0; next }
        FNR == 1 { print "rows,cols,elem_size,class,series,sequence,gb_per_s,copy_gb_per_s,ratio"; next }
        {
            shape = $1 OFS $2 OFS $3
            if (!(shape in class)) order[++shapes] = shape
            class[shape] = class[shape] # creates the entry
            line[shape, ++lines[shape]] = $at["way"] OFS $at["sequence"] OFS $at["gb_per_s"] OFS \
                                          $at["copy_gb_per_s"] OFS $at["ratio"]
            if ($at["way"] == "algorithm-2") {
                m = $at["tile_m"]; n = $at["tile_n"]
                if (m > n) { m = $at["tile_n"]; n = $at["tile_m"] }
                class[shape] = $at["fits"] && m > 4 && n > 6 ? "large" : "small"
            }
        }
        END {
            for (s = 1; s <= shapes; ++s) {
                shape = order[s]
                for (l = 1; l <= lines[shape]; ++l) print shape, class[shape], line[shape, l]
                if (!(shape in peer)) continue
                split(peer[shape], field, ",")
                for (i in series)
                    if (field[i] != "")
                        print shape, class[shape], series[i], "-", field[i], field[copy], field[i] / field[copy]
            }
        }' "$peers" -
}

# Measures the shapes of a file by some methods: element size, file, methods.
measure_ways() {
    elem_size=$1
    listed=$2
    shift 2
    "$measurer" ways "$elem_size" "$listed" "$@" > "$out/s002-ways.csv"
    add_peers < "$out/s002-ways.csv"
    rm "$out/s002-ways.csv"
}

# The tables of random and of skinny matrices: element size, file of the shapes.
measure_general() {
    general_shapes "$2" "general_f$(($1 * 8))" 40 4 $(($1 == 4 ? 20000 : 15000))
    measure_ways "$1" "$2" auto algorithm-2 algorithm-5 tpds-2016 tpds-2016-padded
}
measure_skinny() {
    skinny_shapes "$2" skinny 24 4
    measure_ways "$1" "$2" auto algorithm-5 tpds-2016-padded
}
share_general() {
    share "$out/s002-general-$1.csv" measure_general "$1" "$out/s002-general-$1.txt"
}
share_skinny() {
    share "$out/s002-skinny-$1.csv" measure_skinny "$1" "$out/s002-skinny-$1.txt"
}

# The lines of the shared tables $2 ... for one of the series $1, under one heading.
lines_of() {
    kept=$1
    shift
    awk -F, -v kept=" $kept " 'NR == 1 || (FNR > 1 && index(kept, " " $5 " "))' "$@"
}

# The median of GB/s, and of the share of the copy's speed, for conditions on the columns.
median_speeds() {
    echo "median $(select_column "$csv" gb_per_s "$@" | median | awk '{ printf "%.1f", $1 }') GB/s," \
        "$(select_column "$csv" ratio "$@" | median | awk '{ printf "%.3f", $1 }') of the copy's speed"
}

# A line for `headlines`: its subject, the paper's method or -, then conditions on the columns without the series. $way: the
# column of the series.
our_median() {
    what=$1
    published=$2
    shift 2
    line="ours: $what: $(median_speeds "${way:-series}=auto" "$@")"
    [ "$published" = - ] || line="$line; the whole published method on this device: $(median_speeds "${way:-series}=$published" "$@")"
    echo "$line"
}
