# Sung et al. 2014, section 7.6: the number of command queues.
. "$(dirname "$0")/common.sh"

measure() {
    if [ "$quick" = 1 ]; then
        HOST_NO_CPU=1 HOST_CSV=$csv ${HOST:-build/host} 360x90:4 > "$out/$name.log"
    else
        HOST_NO_CPU=1 HOST_CSV=$csv ${HOST:-build/host} 7200x1800:4 16000x9000:4 > "$out/$name.log"
    fi
    # Names with commas would make two columns.
    sed -i 's/, Q = / by Q = /; s/, /; /; s/"Sung et al. 2014: sequence/"paper: sequence/' "$csv"
}

headlines() {
    echo "ours: $(awk -F, '$2 == "pinned" && $3 ~ /overlapped/ && $6 > most { most = $6; way = $3; speed = $5 }
        END { gsub(/"/, "", way); sub(/.*by /, "", way)
              printf "%.3g GB/s, %.3g of an upload and a download, at best with %s", speed, most, way }' "$csv")" \
        "(pinned memory); one after the other" \
        "$(awk -F, '$2 == "pinned" && $3 ~ /synchronous/ { sum += $6; ++n } END { printf "%.3g", sum / n }' "$csv")"
    echo "paper: 9 % faster in the mean and 24 % at most than one queue, with fewer than 8 (section 7.6); the bus speed is not given"
}

figure
