#!/bin/sh
# Copies the benchmark of matrices over ranks into one folder, with MPICH's launcher and libraries, for a machine without MPI.
# Usage, from the repository root: tests/bench/mpi_bundle.sh FOLDER. There, with an OpenCL loader and a glibc of at least this
# version:
#   FOLDER/run RANKS METHOD SHAPE [ROUNDS [WORKSPACE]]    such as FOLDER/run 4 ipt-device 60000x60000 5
set -eu
[ $# = 1 ] || { echo "usage: tests/bench/mpi_bundle.sh FOLDER"; exit 2; }
folder=$1
rm -rf "$folder"
mkdir -p "$folder/ucx"
mpicc.mpich -std=c99 -O2 -Wall -Wextra -Wpedantic -I. -o "$folder/mpi" tests/bench/mpi.c -lOpenCL -lpthread
cp "$(command -v mpiexec.hydra)" "$(command -v hydra_pmi_proxy)" "$folder"
# UCX searches its modules in the folder ucx beside its libraries.
libraries=$(ldd "$folder/mpi" "$folder/mpiexec.hydra" "$folder/hydra_pmi_proxy" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | sort -u)
modules=$(dirname "$(echo "$libraries" | grep libucs)")/ucx
[ ! -f "$modules/libuct_cma.so.0" ] || cp "$modules/libuct_cma.so.0" "$folder/ucx"
for library in $libraries; do
    case $library in
    */libc.so.* | */libm.so.* | */libpthread.so.* | */libdl.so.* | */librt.so.* | */libOpenCL.so.*) ;; # found there
    *) cp "$library" "$folder" ;;
    esac
done
cat > "$folder/run" <<'END'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
ranks=$1
shift
export LD_LIBRARY_PATH="$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" UCX_MODULE_DIR="$here/ucx"
exec "$here/mpiexec.hydra" -launcher fork -n "$ranks" "$here/mpi" "$@"
END
chmod +x "$folder/run"
du -sh "$folder"
