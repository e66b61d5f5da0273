# The library's own tests on the first device of CUDA: `suite.sh TESTS FOLDER`, with their program for CUDA, build/cuda/ipt_tests,
# and a folder for logs. Each test is a process, and as many run at a time as there are processors. SUBJECTS="thin ..." names some
# subjects of tests. Prints the tests that fail or are skipped, and a summary.
set -eu
export IPT_DEVICE=cuda # for processes that tests start
tests=$(realpath "$1") folder=$2 subjects=${SUBJECTS:-}
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export tests folder IPT_TEST_SKIPPED="$folder/skipped"
# Tests of the tool start processes, whose device is OpenCL's.
"$tests" --list 2> "$folder/list" | awk -v subjects="$subjects" '
    $1 ~ /^(tool.*|files|pictures|offline|formats|encoded|messages|batches)$/ { next }
    subjects == "" || index(" " subjects " ", " " $1 " ") { print $2 }' > "$folder/names"
cd "$(dirname "$0")/../.."
xargs -P "$(nproc)" -I NAME sh -c '
    timeout 900 "$tests" NAME > "$folder/NAME.log" 2>&1 || echo "test NAME failed" >> "$folder/NAME.log"' < "$folder/names"
cat "$folder"/*.log | awk '
    /^\[       OK \]/ { passed += 1 }
    /^\[  SKIPPED \] 1 test/ { skipped += 1 }
    /^\[  REASON  \] [0-9]+ skipped/ { print }
    /^test [a-z_0-9]+ failed$/ { failed += 1; print }
    END {
        printf "suite: %d passed, %d skipped, %d failed\n", passed, skipped, failed
        exit failed || !passed
    }'
