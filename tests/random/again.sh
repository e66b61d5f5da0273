# Repeats parts of `make check` with other random numbers, for `make deep`: the random tests with a new seed, and kills of the
# tool.
set -eu
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
echo "random tests with IPT_TEST_SEED=$seed"
IPT_TEST_SEED=$seed build/tests/ipt_tests 'shapes*'
IPT_TEST_SEED=$seed build/tests/ipt_tests 'batch_random*'
IPT_TEST_SEED=$seed IPT_TEST_ACTIONS=60 IPT_TEST_ELEMENTS=1000 build/tests/ipt_tests actions_any_size
echo "200 kills in the middle, with the same seed"
IPT_TEST_KILLS=200 IPT_TEST_SEED=$seed build/tests/ipt_tests tool_files_killed
sh tests/tool/kills.sh build/ipt build/kills 100
