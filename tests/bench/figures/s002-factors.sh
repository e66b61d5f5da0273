# Gómez-Luna et al. 2016, section 6.1: the share of random matrices with bad factors, for the local memory of the paper's K20.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    matrices=5000
    [ "$quick" = 0 ] || matrices=200
    "$measurer" draw "${COUNT:-$matrices}" 2 1000 19999 1000 19999 > "$out/$name.shapes"
    "$measurer" tiles 4 49152 "$out/$name.shapes" > "$out/$name.tiles"
    awk -F, -v OFS=, '
        NR == 1 { next }
        { shape = $1 OFS $2; if (!(shape in seen)) { seen[shape]; ++all } ++count[$4]; small[$4] += $5 <= 6 || $6 <= 6
          m = $5 < $6 ? $5 : $6; n = $5 < $6 ? $6 : $5; large[$4] += m > 4 && n > 6 && $9; padded[$4] += $7 + $8 > 0 }
        END {
            print "heuristic,matrices,without_tiles,small,large,padded"
            for (h in count) print h, all, all - count[h], small[h], large[h], padded[h] | "sort"
        }' "$out/$name.tiles" > "$csv"
}

headlines() {
    awk -F, '$1 == "algorithm-2" { printf "ours: algorithm 2: m or n up to 6 for %d of %d matrices (%.1f %%); m > 4, n > 6 and a tile that fits for %d (%.1f %%); no speed is measured here\n",
        $4, $2, 100 * $4 / $2, $5, 100 * $5 / $2 }' "$csv"
    echo "paper: sections 6.1 and 7.1: 2235 of 5000 (44.7 %); 2926 of 5000 (58.5 %)"
}

figure
