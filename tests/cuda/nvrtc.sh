# Compiles the texts that an NVIDIA GPU may have, as the CUDA driver does, to machine code for four processors. No GPU is needed.
# Usage, from the repository's root: tests/cuda/nvrtc.sh FOLDER LINT_SOURCES; EVERY=20: one of so many texts; PROCESSORS="sm_90"
# some of them.
set -eu
folder=$1 every=${EVERY:-20}
mkdir -p "$folder"
# NVRTC 13 does not know sm_70. Both are from PyPI.
if [ ! -e "$folder/done" ]; then
    rm -rf "$folder/venv"
    { "${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install -q nvidia-cuda-nvrtc-cu12==12.9.86 \
        nvidia-cuda-nvrtc==13.5.37; } > "$folder/log" 2>&1 && : > "$folder/done" || {
        sh tests/skipped.sh note "CUDA's compiler" "NVRTC could not be fetched from PyPI: $(tail -n 1 "$folder/log")"
        exit 0
    }
fi
library() { # of a version
    find "$folder/venv" -name "libnvrtc.so.$1" | head -n 1
}
${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Wpedantic -Werror -Wno-unused-function -I. -o "$folder/nvrtc" tests/cuda/nvrtc.c \
    -lOpenCL -lpthread -ldl
run() { # a processor, its NVRTC, a list of files: prints failures, and the number of texts that were compiled
    IPT_NVRTC_LIBRARY=$(library "$2") xargs -a "$3" -r -n 20 -P "$(nproc)" "$folder/nvrtc" "$1" > "$folder/out" && code=0 || code=1
    grep -v "^NVRTC " "$folder/out" || true
    awk -v processor="$1" '/^NVRTC / { version = $2; good += $4; all += $6 }
        END { print "NVRTC", version, processor ":", good + 0, "of", all + 0, "texts compiled" }' "$folder/out"
    return $code
}
# The check itself: a text with an error, and a processor that is none.
printf '__kernel void ipt_k_wrong(__global uint *x)\n{\n    x[0] = y;\n}\n' > "$folder/ipt_k_wrong_0_ptx.cl"
printf '__kernel void ipt_k_other(__global uint *x)\n{\n    x[0] = 1;\n}\n' > "$folder/ipt_k_right_0_ptx.cl"
for name in wrong right; do
    echo "$folder/ipt_k_${name}_0_ptx.cl" > "$folder/list"
    ! run sm_90 13 "$folder/list" > "$folder/failures" || { echo "nvrtc.sh: a text with an error passed"; exit 1; }
    grep -q "ipt_k_${name}_0_ptx.cl for sm_90: " "$folder/failures" || { cat "$folder/failures"; exit 1; }
done
rm -rf "$folder/texts"
mkdir "$folder/texts"
"$2" "$folder/texts" > "$folder/count"
find "$folder/texts" -name '*_ptx.cl' | sort | awk "NR % $every == 0" > "$folder/list"
# Texts for compute capability 8.0 and later have instructions that older devices lack.
xargs -a "$folder/list" grep -L "^#define IPT_MEMORY_MODEL 2" > "$folder/list_70"
code=0
for processor in ${PROCESSORS:-sm_70 sm_80 sm_90 sm_100}; do
    case $processor in
    sm_70) run sm_70 12 "$folder/list_70" || code=1 ;;
    *) run "$processor" 13 "$folder/list" || code=1 ;;
    esac
done
exit $code
