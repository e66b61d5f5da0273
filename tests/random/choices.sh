# Compares the planner's choices for random problems with those of another revision: `choices.sh REVISION [CASES] [SEED]`. It
# counts the plans that differ, the kernels' texts and the launches, and shows the first three plans of both. Exit code: 0 if
# no plan and no launch differs. Run it from the repository's root: it compares the working tree.
set -eu
revision=${1:?usage: choices.sh REVISION [CASES] [SEED]}
cases=${2:-10000}
seed=${3:-1}
out=build/choices
rm -rf $out
mkdir -p $out/base
mkdir -p $out/base/tests/random $out/base/tests/fuzz # each side has its own choices.c, which reads private structs
for file in ipt.h ipt_kernels.h tests/random/choices.c tests/fuzz/fuzz.h; do git show "$revision:$file" > $out/base/$file; done
for side in base tree; do
    from=.
    [ $side = tree ] || from=$out/base
    ${CC:-gcc} -std=c99 -O1 -Wall -Wextra -Wno-unused-function -I$from -o $out/$side.program $from/tests/random/choices.c -ldl -lpthread
    $out/$side.program --cases "$cases" --seed "$seed" > $out/$side.lines
done
paste -d ' ' $out/base.lines $out/tree.lines | awk -v revision="$revision" -v seed="$seed" -v list=$out/differing '
    $2 != $7 || $3 != $8 || $5 != $10 { print $1 > list }
    $2 != $7 || $3 != $8 { ++choices }
    $4 != $9 { ++texts }
    $5 != $10 { ++launches }
    END { printf "choices: %d of %d differ from %s, %d kernel texts and %d lists of launches, seed %s\n", choices, NR, revision,
        texts, launches, seed }'
[ -f $out/differing ] || exit 0
for case in $(head -n 3 $out/differing); do
    for side in base tree; do
        echo "case $case, $side:"
        $out/$side.program --case "$case" --seed "$seed"
    done
done
exit 1
