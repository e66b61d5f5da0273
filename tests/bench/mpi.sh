#!/bin/sh
# A matrix over ranks of this machine, by ipt and by FFTW, in turn: tests/bench/mpi.c. Usage, from the repository root:
# tests/bench/mpi.sh FOLDER. SHAPES, RANKS, ROUNDS, METHODS and TURNS select. Needs Open MPI, for which Debian builds FFTW.
set -eu
[ $# = 1 ] || { echo "usage: tests/bench/mpi.sh FOLDER"; exit 2; }
folder=$1
mkdir -p "$folder"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in containers
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
mpicc.openmpi -std=c99 -O2 -Wall -Wextra -Wpedantic -DBENCH_FFTW -I. -o "$folder/mpi" tests/bench/mpi.c \
    -lfftw3f_mpi -lfftw3f -lOpenCL -lpthread -lm
for shape in ${SHAPES:-11200x11200 8000x15600}; do
    for turn in $(seq "${TURNS:-2}"); do
        for method in ${METHODS:-ipt fftw-estimate fftw-measure fftw-estimate-out fftw-measure-out ipt-buffered}; do
            mpirun.openmpi --oversubscribe -n "${RANKS:-4}" "$folder/mpi" "$method" "$shape" "${ROUNDS:-5}" \
                > "$folder/log" || { cat "$folder/log"; exit 1; }
            head -n 1 "$folder/log"
        done
    done
done
