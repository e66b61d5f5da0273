#!/bin/sh
# Compiles the programs of some shapes with clang for a device, described by its profile, and, if the device is here, runs
# them beside those of the device's own compiler. Arguments: the tool, the program `portable`, a folder.
#
# TARGET=ptx:sm_80: what clang compiles for (by default what the chosen device takes). PROFILE=FILE: of a device that is
# not here; only the folder is filled then. RUN=1: only run what is in the folder.
set -eu
tool=$1 portable=$2 folder=$3
if [ -z "${TARGET:-}" ]; then
    case $($tool devices --profile) in *"vendor NVIDIA"*) TARGET=ptx:sm_80 ;; *) TARGET=bitcode ;; esac
fi
case $TARGET in
bitcode) shapes="${SHAPES:-1000x777:4 777x1000:8 1024x1024:4 50x70:4*1000 3000x20:4}" ;;
*) shapes="${SHAPES:-10000x7770:4 7770x10000:8 12000x12000:4 1200x1100:4 32x24:4*100000 2000000x20:4 5000x7001:1}" ;;
esac
if [ "${RUN:-0}" != 1 ]; then
    rm -rf "$folder"
    for shape in $shapes; do
        batch=1
        case $shape in *\**) batch=${shape#*\*} ;; esac
        $tool precompile "${shape%\**}" --batch "$batch" --target "$TARGET" ${PROFILE:+--profile "$PROFILE"} -o "$folder"
    done
fi
[ -z "${PROFILE:-}" ] || exit 0
heading=1p
for shape in $shapes; do
    # A cache of the driver's that has nothing of the shapes before.
    POCL_CACHE_DIR=$(mktemp -d)
    export POCL_CACHE_DIR CUDA_CACHE_DISABLE=1
    $portable "$folder" "$shape" > "$folder.out" || failed=1
    rm -rf "$POCL_CACHE_DIR"
    sed -n -e "${heading:-}" -e '2,$p' "$folder.out"
    heading=
done
rm -f "$folder.out"
exit "${failed:-0}"
