# Sung et al. 2014, section 7.7: three stages against four, without a GPU. Always measures the CPU through PoCL.
. "$(dirname "$0")/common.sh"
. "$here/s000-shared.sh"
export IPT_DEVICE=Portable

measure() {
    if [ "$quick" = 1 ]; then
        stages "16" 360x90 90x360 | measure_lines 3
    else
        stages "20 60" 3600x900 2550x1250 900x3600 | measure_lines 3
    fi
}

headlines() {
    # The paper gives averages of the best tiles.
    awk -F, 'NR > 1 {
            kind = $4 == "auto" ? "own" : $4 ~ /^ppopp/ ? "whole" : substr($4, 1, 1)
            if ($4 == "4.3") kind = "fused"
            if ($14 > ratio[kind, $1]) { ratio[kind, $1] = $14; speed[kind, $1] = $12 }
            if (!($1 in seen)) { seen[$1] = 1; ++count }
        }
        END {
            for (key in ratio) { split(key, part, SUBSEP); sum[part[1]] += speed[key]; share += part[1] == "own" ? ratio[key] : 0 }
            printf "ours: %.3g GB/s, %.3f of the copy (mean of %d shapes, own choice, on a CPU; best 3 stages %.3g, ",
                sum["own"] / count, share / count, count, sum[3] / count
            printf "4 stages %.3g, fused %.3g, the whole published method %.3g GB/s)\n", sum[4] / count, sum["fused"] / count,
                sum["whole"] / count
        }' "$csv"
    echo "paper: 5.02 GB/s, of an unnamed peak (60-core Xeon Phi, 3 stages; 4 stages 2.81; section 7.7)"
}

figure
