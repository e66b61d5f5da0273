#!/bin/sh
# `ipt transpose --mpi`: files of two kinds on several ranks, refusals, and kills at random moments, after which the file is
# unchanged or `ipt transpose --resume` of one process finishes it. Usage, from the repository root:
# tests/mpi/tool.sh MPI_TOOL TOOL FOLDER KILLS. The MPI is that of mpirun.openmpi, or MPIRUN.
set -eu
[ $# = 4 ] || { echo "usage: tests/mpi/tool.sh MPI_TOOL TOOL FOLDER KILLS"; exit 2; }
with=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") plain=$(cd "$(dirname "$2")" && pwd)/$(basename "$2") folder=$3 kills=$4
run=${MPIRUN:-"mpirun.openmpi --oversubscribe"}
mkdir -p "$folder"
IPT_CACHE_DIR=$(cd "$folder" && pwd)/cache
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in containers
export IPT_CACHE_DIR OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
${CC:-gcc} -std=gnu99 -Wall -Wextra -shared -fPIC -o "$folder/stop_at.so" tests/mpi/stop_at.c -ldl
cd "$folder"

fail() {
    echo "mpi tool: $*"
    [ ! -f log ] || cat log
    exit 1
}

ranks() { # NUMBER ARGUMENTS of ipt
    number=$1
    shift
    # shellcheck disable=SC2086
    timeout 120 $run -n "$number" "$with" "$@" > log 2>&1
}

refused() { # WORDS of the message, NUMBER, ARGUMENTS: the file stays unchanged
    words=$1
    shift
    cp before.raw file.raw
    if ranks "$@"; then fail "$* succeeded"; fi
    grep -q "$words" log || fail "$* does not say '$words'"
    cmp -s before.raw file.raw || fail "$* changed the file"
}

rows=1201 cols=1500
head -c $((rows * cols * 4)) /dev/urandom > before.raw
cp before.raw after.raw
"$plain" transpose after.raw --raw ${rows}x${cols}:4 || fail "the tool itself"
# A NumPy file of the same matrix: magic, version 1.0, a header of 118 bytes.
header="{'descr': '<u4', 'fortran_order': False, 'shape': ($rows, $cols), }"
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "$header"; cat before.raw; } > before.npy
cp before.npy after.npy
"$plain" transpose after.npy || fail "the tool itself on a .npy file"

for number in 1 2 3 5; do
    cp before.raw file.raw
    cp before.npy file.npy
    ranks $number transpose --mpi file.raw --raw ${rows}x${cols}:4 || fail "$number ranks"
    cmp -s after.raw file.raw || fail "$number ranks: wrong"
    ranks $number transpose --mpi file.npy --sync || fail "$number ranks, .npy"
    cmp -s after.npy file.npy || fail "$number ranks, .npy: wrong"
    [ ! -e file.raw.ipt-journal ] && [ ! -e file.npy.ipt-journal ] || fail "$number ranks: a journal remains"
done
# Arrays: axes by name, the first one stays, and the other order of a NumPy file of three axes.
for axes in 2,0,1 1,2,0 0,2,1 2,1,0; do
    cp before.raw file.raw
    cp before.raw expected.raw
    "$plain" transpose expected.raw --raw ${rows}x20x75:4 --axes $axes || fail "the tool itself, --axes $axes"
    ranks 3 transpose --mpi file.raw --raw ${rows}x20x75:4 --axes $axes || fail "--axes $axes"
    cmp -s expected.raw file.raw || fail "--axes $axes: wrong"
done
header="{'descr': '<u4', 'fortran_order': False, 'shape': ($rows, 20, 75), }  "
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "$header"; cat before.raw; } > file.npy
cp file.npy expected.npy
"$plain" transpose expected.npy --order F || fail "the tool itself, --order F"
ranks 4 transpose --mpi file.npy --order F || fail "--order F"
cmp -s expected.npy file.npy || fail "--order F: wrong"

cp before.raw file.raw
ranks 3 transpose --mpi file.raw --raw ${rows}x${cols}:4 --no-journal || fail "without a journal"
cmp -s after.raw file.raw || fail "without a journal: wrong"
refused "use more ranks or more memory" 2 transpose --mpi file.raw --raw ${rows}x${cols}:4 --memory 1M
refused "the file has 100" 2 transpose --mpi file.raw --raw 1201x15:4
refused "needs --axes" 2 transpose --mpi file.raw --raw 1201x15x100:4
refused "does not go with --move" 2 transpose --mpi file.raw --raw ${rows}x${cols}:4 --move rotate-90
refused "one process finishes" 2 transpose --mpi --resume file.raw
if "$plain" transpose --mpi file.raw --raw ${rows}x${cols}:4 > log 2>&1; then fail "a build without MPI succeeded"; fi
grep -q "needs a build with MPI" log || fail "a build without MPI says something else"

# Stops in the middle of a write: of rank 0's mark (1), its rows (2) and the header (3), of rank 1's rows, in the journal.
# Rank 0 maps the journal, the others write to it.
stop() { # RANK WRITE NAME EXPECTED
    cp before.npy file.npy
    # shellcheck disable=SC2086
    if STOP_RANK=$1 STOP_WRITE=$2 STOP_NAME=$3 LD_PRELOAD=./stop_at.so timeout 120 $run -n 3 "$with" transpose --mpi file.npy \
        > log 2>&1; then fail "rank $1 was not stopped in write $2 to $3"; fi
    # A rank may outlive mpirun, and holds the file until it ends.
    tries=0
    while "$plain" transpose file.npy > log 2>&1 || grep -q "another process" log; do
        tries=$((tries + 1))
        grep -q "another process" log || fail "rank $1, write $2 to $3: a stopped file passes for a whole one"
        [ $tries -lt 400 ] || fail "rank $1, write $2 to $3: a rank does not end"
        sleep 0.05
    done
    if "$plain" transpose --resume file.npy > log 2>&1; then found=after; else found=before; fi
    [ $found = "$4" ] || fail "rank $1, write $2 to $3: not as expected: $4"
    cmp -s $found.npy file.npy || fail "rank $1, write $2 to $3: the file is neither $found nor resumed"
    [ ! -e file.npy.ipt-journal ] || fail "rank $1, write $2 to $3: a journal remains"
}
stop 1 1 file.npy after
stop 2 1 file.npy after
stop 0 1 file.npy before
stop 0 2 file.npy after
stop 0 3 file.npy after
stop 1 1 ipt-journal before

# Kills: each rank writes its process number. mpirun may hang if a rank ends while it connects: hence the limit.
resumed=0 unchanged=0 whole=0 i=0 signal=
while [ $i -lt "$kills" ]; do
    i=$((i + 1))
    [ "$signal" = KILL ] && signal=TERM || signal=KILL
    cp before.npy file.npy
    rm -f pids
    # shellcheck disable=SC2086,SC2016
    timeout -k 1 20 $run -n 3 sh -c 'echo $$ >> pids; exec "$0" transpose --mpi file.npy' "$with" > log 2>&1 &
    launcher=$!
    sleep 0.$(printf '%03d' $((250 + i * 1000 / kills * 55 / 100)))
    # shellcheck disable=SC2046
    [ ! -f pids ] || kill -s $signal $(cat pids) 2> /dev/null || :
    wait $launcher 2> /dev/null || :
# Ranks may outlive an mpirun that ends at its time limit: wait for their writes.
    tries=0
    for rank in $(cat pids 2> /dev/null); do
        while kill -0 "$rank" 2> /dev/null && [ $tries -lt 400 ]; do
            tries=$((tries + 1))
            sleep 0.05
        done
    done
    if cmp -s after.npy file.npy && [ ! -e file.npy.ipt-journal ]; then
        whole=$((whole + 1))
    elif "$plain" transpose --resume file.npy > log 2>&1; then
        cmp -s after.npy file.npy || fail "kill $i: --resume made a wrong file"
        resumed=$((resumed + 1))
    else
        grep -q -e "start it again" -e "nothing to resume" log || fail "kill $i: --resume"
        cmp -s before.npy file.npy || fail "kill $i: the file is neither unchanged nor resumed"
        unchanged=$((unchanged + 1))
    fi
    [ -z "$(find . -name '*ipt-journal*')" ] || fail "kill $i by $signal: a journal remains"
done
[ "$kills" = 0 ] || echo "mpi tool: $kills kills: $unchanged unchanged, $resumed resumed, $whole had ended"
echo "mpi tool: files on 1 to 5 ranks, refusals, stops and resumptions passed"
