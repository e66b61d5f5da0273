# The deep checks that `make check` adds to `make test`: every kind of stage, with the kernels for CPUs and those for GPUs, under
# oclgrind, which sees accesses out of bounds, diverging barriers and races; and the random tests with a new seed.
# Reports of races between work-groups on the matrix are expected where a kernel loads a slot before it knows whether it may
# keep the value (shuffle, chains, pttwac_010), or writes where another work-group has read, once a counter or a flag says so (panel, pad):
# see the invariants in gen/kernels. Any other report fails. Not optimised, because oclgrind lacks a function that its compiler
# makes of a loop.
set -eu
for kind in cpu gpu; do
    log=build/oclgrind_$kind.log
    oclgrind --build-options -cl-opt-disable --data-races --max-errors 1000000 build/walk $kind 2> $log
    awk -v kind=$kind '
        /^[A-Z].* (at|to|from) .*address|^[A-Z].*(race|barrier|Invalid|ERROR)/ { report = $0 }
        /^\tKernel: / {
            if ($2 ~ /^ipt_k_(shuffle|chains|panel|pad|pttwac_010)$/ && report ~ /^Read-write data race at global memory/) expected++
            else { print report " in " $2; unexpected++ }
            report = ""
        }
        /FATAL|Oclgrind:/ { print; unexpected++ }
        END {
            print "oclgrind, kernels for a " kind ": " expected + 0 " expected reports, " unexpected + 0 " others"
            exit unexpected > 0
        }' $log
done
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
echo "random tests with IPT_TEST_SEED=$seed"
IPT_TEST_SEED=$seed build/tests/ipt_tests 'shapes*'
echo "200 kills in the middle, with the same seed"
IPT_TEST_KILLS=200 IPT_TEST_SEED=$seed build/tests/ipt_tests tool_files_killed
