#!/bin/sh
# Tests of matrices over ranks, with each installed MPI (Open MPI, MPICH): random cases on 1 to 12 ranks, failures, ended
# processes; the CUDA driver on a stand-in; and the simulation. Usage, from the repository root: tests/mpi/run.sh FOLDER
# CASES [SEED]. CC_FLAGS: of the compiler. A test that lasts too long is a failure.
set -eu
[ $# -ge 2 ] || { echo "usage: tests/mpi/run.sh FOLDER CASES [SEED]"; exit 2; }
folder=$1 cases=$2 seed=${3:-1}
flags=${CC_FLAGS-"-std=c99 -O2 -g -Wall -Wextra -Wpedantic"}
mkdir -p "$folder"
if [ "$cases" -ge 1000 ]; then all_ranks="2 3 5" messages="1 2 30" most=4096; else all_ranks=3 messages=2 most=1024; fi
# All ranks share one cache of programs. One rank fills the cache first: several ranks would compile at the same time.
IPT_CACHE_DIR=$(cd "$folder" && pwd)/cache
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in containers
export IPT_CACHE_DIR OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

launch() { # SECONDS RANKS PROGRAM ARGUMENTS
    seconds=$1 ranks=$2
    shift 2
    case $mpi in
    openmpi) timeout "$seconds" mpirun.openmpi --oversubscribe -n "$ranks" "$@" ;;
    mpich) timeout "$seconds" mpirun.mpich -n "$ranks" "$@" ;;
    esac
}

expect() { # SECONDS RANKS PROGRAM ARGUMENTS: the program must succeed
    launch "$@" > "$folder/log" 2>&1 || { echo "mpi: $mpi, $*: failed with $?:"; cat "$folder/log"; exit 1; }
    sed "s/^/$mpi: /" "$folder/log"
}

# If a rank ends, the job must end: mpirun fails in time, and no rank reports success.
expect_end() { # SECONDS RANKS PROGRAM ARGUMENTS
    status=0
    launch "$@" > "$folder/log" 2>&1 || status=$?
    if [ $status = 0 ] || [ $status = 124 ] || [ $status = 99 ] || grep -q passed "$folder/log"; then
        echo "mpi: $mpi, $*: ended with $status:"
        cat "$folder/log"
        exit 1
    fi
}

found=
for mpi in openmpi mpich; do
    if ! command -v mpicc.$mpi > /dev/null || ! command -v mpirun.$mpi > /dev/null; then
        sh tests/skipped.sh note "mpi, $mpi" "it is not installed (Debian: openmpi-bin libopenmpi-dev, mpich libmpich-dev)"
        continue
    fi
    found=$mpi
    mkdir -p "$folder/$mpi"
    for program in ranks faults simulate; do
        # shellcheck disable=SC2086
        mpicc.$mpi $flags -Werror -DIPT_NO_NATIVE -I. -o "$folder/$mpi/$program" tests/mpi/$program.c -lOpenCL -lpthread -ldl
    done
    # shellcheck disable=SC2086
    mpicc.$mpi $flags -Werror -I. -o "$folder/$mpi/13_ranks" examples/13_ranks.c -lOpenCL -lpthread
    expect 60 4 "$folder/$mpi/13_ranks"
    expect 600 1 "$folder/$mpi/ranks" 100 "$seed"
    expect 1200 12 "$folder/$mpi/ranks" "$cases" "$seed"
    for ranks in $all_ranks; do
        expect 300 $ranks "$folder/$mpi/faults"
    done
    # The CUDA driver: the stand-in's memory is the host's, so any MPI takes its addresses as those of the device.
    # shellcheck disable=SC2086
    mpicc.$mpi $flags -Werror -D_GNU_SOURCE -DIPT_NO_NATIVE -DIPT_CUDA -DIPT_OPENCL_DYNAMIC -I. -o "$folder/$mpi/ranks_cuda" \
        tests/mpi/ranks.c -lpthread -ldl
    # shellcheck disable=SC2086
    ${CC:-gcc} $flags -std=gnu11 -Wno-deprecated-declarations -fPIC -shared -I. -o "$folder/stand_in.so" \
        tests/cuda/stand_in.c -lOpenCL -lpthread
    (
        IPT_DEVICE=cuda IPT_CUDA_LIBRARY=$IPT_CACHE_DIR/../stand_in.so
        IPT_NVRTC_LIBRARY=$IPT_CUDA_LIBRARY
        export IPT_DEVICE IPT_CUDA_LIBRARY IPT_NVRTC_LIBRARY
        expect 600 1 "$folder/$mpi/ranks_cuda" 20 "$seed"
        expect 1200 6 "$folder/$mpi/ranks_cuda" $((cases / 5)) "$seed"
    )
    expect 60 3 "$folder/$mpi/faults" pause
    for message in $messages; do
        for how in exit abort signal; do
            expect_end 60 3 "$folder/$mpi/faults" die $message $how
        done
    done
    echo "$mpi: ended processes end all ranks"
done
[ -n "$found" ] || exit 0
"$folder/$found/simulate" counts $most
"$folder/$found/simulate" movement 3000 "$seed"
