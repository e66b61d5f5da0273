# Gómez-Luna et al. 2016, figure 11: ipt's speed divided by that of Catanzaro et al. for each matrix, or by algorithm 2's if
# there is no measurement of Catanzaro et al.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    share_general 4
    awk -F, -v OFS=, '
        NR == 1 { print "rows,cols,class,series,gb_per_s,ratio,against,other_gb_per_s"; next }
        FNR == NR { if ($5 == "catanzaro" || !(($1, $2) in other)) if ($5 == "catanzaro" || $5 == "algorithm-2") {
                        other[$1, $2] = $7; against[$1, $2] = $5 } next }
        FNR > 1 && (($5 == "auto" && ($1, $2) in other) || ($5 == "tpds-2016" && ($1, $2) in other) ||
            ($5 == "algorithm-2" && against[$1, $2] == "catanzaro")) {
            print $1, $2, $4, $5, $7, $9, against[$1, $2], other[$1, $2]
        }' "$out/s002-general-4.csv" "$out/s002-general-4.csv" > "$csv"
}

headlines() {
    our_median "floats" tpds-2016
    echo "paper: floats, not padded, section 7.1: median 13.69 GB/s on a K20, 0.066 of its peak bandwidth of 208 GB/s"
}

figure
