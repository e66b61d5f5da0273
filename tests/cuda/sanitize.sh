# Every kernel with small shapes on the first device of CUDA under compute-sanitizer: `sanitize.sh WALK FOLDER TOOL...`, with
# build/cuda/walk, a folder for logs, and memcheck, racecheck or synccheck. Before, each tool must report a planted defect. Each
# kind and kernel of tests/oclgrind/walk.c is a process. Prints those that fail, and a line for each tool.
set -eu
unset IPT_DEVICE
walk=$(realpath "$1") folder=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export walk folder IPT_CACHE_DIR=none
barrier="barrier(CLK_LOCAL_MEM_FENCE);"
"$walk" columns quick | awk '$1 == "kernel" && $2 !~ /waves|thin/ { print $2 }' > "$folder/kernels" # CPUs have those
for kind in team columns alone columns_alone gpu; do
    while read -r kernel; do
        case $kind,$kernel in gpu,* | columns*,ipt_k_exchange | team,*panel | team,*box | team,*exchange | team,*chains | alone,*panel | \
            alone,*box | alone,*exchange) echo "$kind $kernel" ;; esac
    done < "$folder/kernels"
done > "$folder/walks"
for tool; do
    case $tool in
    memcheck) planted="map map.cl" old="k < units" new="k <= units" ;;
    racecheck) planted="tile tile.cl" old=$barrier new=";" ;;
    *) planted="tile tile.cl" old=$barrier new="if (id != 0) $barrier" ;;
    esac
    if timeout 300 compute-sanitizer --tool "$tool" --error-exitcode 9 "$walk" gpu "ipt_k_${planted% *}" "${planted#* }" "$old" "$new" \
        > "$folder/planted.$tool" 2>&1 || ! grep -qE "SUMMARY: .*[1-9]" "$folder/planted.$tool"; then
        echo "$tool reports no planted defect: see $folder/planted.$tool"
        exit 1
    fi
    export tool
    xargs -P "$(nproc)" -L 1 sh -c '
        log=$folder/$1.$2.$tool
        timeout 900 compute-sanitizer --tool $tool --error-exitcode 9 "$walk" $1 $2 > "$log" 2>&1 || echo "$tool: walk $1 $2 failed" >> "$log"' \
        walk < "$folder/walks"
    cat "$folder"/*.*."$tool" | awk -v tool="$tool" '
        / failed$/ && /walk/ { failed += 1; print }
        /SUMMARY: [^0]|Sanitizer will be disabled/ { failed += 1; print }
        /^[0-9]+ passed, 0 failed$/ { passed += $1 }
        /^launched/ { kernels[$3] = 1 }
        END {
            for (kernel in kernels)
                count += 1
            printf "%s: %d plans of %d kernels passed, %d walks failed\n", tool, passed, count, failed
            exit failed || !passed
        }'
done
