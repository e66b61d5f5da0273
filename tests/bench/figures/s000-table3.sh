# Sung et al. 2014, table 3 and figure 9: matrices in host memory, transposed by the CPU and through the device.
. "$(dirname "$0")/common.sh"

measure() {
    if [ "$quick" = 1 ]; then
        HOST_CSV=$csv ${HOST:-build/host} 360x90:4 200x160:4 > "$out/$name.log"
    else
        HOST_CSV=$csv ${HOST:-build/host} > "$out/$name.log"
    fi
    # Names with commas would make two columns.
    sed -i 's/, Q = / by Q = /; s/, /; /; s/"Sung et al. 2014: /"paper: /' "$csv"
}

# The mean of column $3 over the shapes, for the memory kind $1 and the method $2.
mean() {
    awk -F, -v kind="$1" -v way="\"$2\"" -v at="$3" \
        '$2 == kind && $3 == way { sum += $at; ++count } END { if (count) printf "%.3g", sum / count; else printf "-" }' "$csv"
}

headlines() {
    echo "ours: $(mean pinned "in place; own choice" 5) GB/s, $(mean pinned "in place; own choice" 6) of an upload and a" \
        "download of pinned memory; pageable $(mean pageable "in place; own choice" 5) GB/s," \
        "$(mean pageable "in place; own choice" 6); out of place $(mean pinned "out of place; with transfers" 5) GB/s;" \
        "one after the other $(mean pinned "in place; synchronous" 5) GB/s; on the CPU: cycles in C" \
        "$(mean CPU "cycle following in C; one thread" 5), OpenBLAS in place $(mean CPU "OpenBLAS cblas_?imatcopy" 5), MKL" \
        "$(mean CPU "MKL mkl_?imatcopy" 5), out of place $(mean CPU "MKL mkl_?omatcopy; out of place" 5) GB/s; means of" \
        "all matrices"
    echo "paper: 3.43 GB/s with both transfers, of the bus whose speed it does not give; out of place 3.57, one after the" \
        "other 2.87; on 6 cores 2.85 in place, 12.07 out of place by MKL (table 3)"
}

figure
