# Shows that build/differential detects defects. It builds the program against a copy of ipt.h and the kernels for each defect
# of tests/random/differential.planted, or for those whose names contain $1. It fails unless 300 cases at most find the defect.
# Environment: CC, CFLAGS, LDLIBS, KERNEL_FILES (in the Makefile's order). To be run from the repository's root after `make
# build/embed`.
set -eu
here=tests/random
out=build/differential_planted
wanted=${1:-}
rm -rf $out
mkdir -p $out
failed=0

# Column $1 of the planted defect in $line.
column() {
    printf '%s\n' "$line" | awk -v n="$1" '{
        gsub(/\\[|]/, "\001")
        split($0, columns, " [|] ")
        text = columns[n]
        gsub(/\001/, "|", text)
        print text
    }'
}

# Replaces the first $1 by $2 in the file $3.
plant() {
    FROM=$1 TO=$2 awk '
        !done && (at = index($0, ENVIRON["FROM"])) {
            $0 = substr($0, 1, at - 1) ENVIRON["TO"] substr($0, at + length(ENVIRON["FROM"]))
            done = 1
        }
        { print }
        END { exit !done }' "$3" > "$3.new" && mv "$3.new" "$3"
}

grep -v '^#' $here/differential.planted | grep "$wanted" > $out/list
while read -r line; do
    name=$(column 1)
    copy=$out/copy
    rm -rf $copy
    mkdir -p $copy/gen
    cp ipt.h $copy
    cp -r gen/kernels gen/kernels.def $copy/gen
    if ! plant "$(column 3)" "$(column 4)" "$copy/$(column 2)"; then
        echo "$name: $(column 2) lacks the text to replace"
        failed=1
        continue
    fi
    (cd $copy && ../../embed kernels gen/kernels.def $KERNEL_FILES > ipt_kernels.h)
    ${CC:-gcc} ${CFLAGS:--std=c99 -O2} -w -I$copy -I. -Itests/support -o $out/differential $here/differential.c ${LDLIBS:--lOpenCL -lpthread}
    log=$out/$(echo "$name" | tr ' ' _).log
    status=0
    timeout 600 $out/differential --cases 300 --failures 1 ${SEED:+--seed $SEED} > "$log" 2>&1 < /dev/null || status=$?
    if [ $status = 0 ]; then
        echo "$name: not found"
        failed=1
    else
        printf '%s: %s\n' "$name" "$(grep -m 1 '^FAILED\|^LEFT OVER\|^HANGS\|^case 0x\|failed in case' "$log" | cut -c 1-110), $(grep -o '^[0-9]* cases' "$log" || echo 'ended there')"
    fi
done < $out/list
exit $failed
