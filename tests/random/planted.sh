# Shows that tests/random/PROGRAM.c detects defects: `planted.sh PROGRAM "ARGUMENTS" [NAME]`. For each defect of
# tests/random/PROGRAM.planted, or each whose name contains NAME, builds the program against a copy of ipt.h, the kernels and the
# examples with the defect. Fails unless a run with these arguments finds every defect. Environment: CC, CFLAGS, LDLIBS,
# KERNEL_FILES (in the Makefile's order). `planted.sh texts` checks that each text to replace is there. Run it from the
# repository's root after `make build/embed`.
set -eu
here=tests/random
program=$1 arguments=${2:-} wanted=${3:-}
out=build/${program}_planted
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

# The texts to replace are there, in all lists.
if [ "$program" = texts ]; then
    for list in $here/*.planted; do
        grep -v '^#' "$list" > $out/list
        while read -r line; do
            for file in 2 5; do
                [ -z "$(column $file)" ] || FROM=$(column $((file + 1))) awk 'index($0, ENVIRON["FROM"]) { found = 1; exit }
                    END { exit !found }' "$(column $file)" || {
                    echo "$list: $(column 1): $(column $file) lacks the text to replace"
                    failed=1
                }
            done
        done < $out/list
    done
    exit $failed
fi

grep -v '^#' $here/$program.planted | grep "$wanted" > $out/list
while read -r line; do
    name=$(column 1)
    copy=$out/copy
    rm -rf $copy
    mkdir -p $copy/gen
    cp -r ipt.h examples $copy
    cp -r gen/kernels gen/kernels.def $copy/gen
    for file in 2 5; do # a defect has one or two replacements
        if [ -n "$(column $file)" ] && ! plant "$(column $((file + 1)))" "$(column $((file + 2)))" "$copy/$(column $file)"; then
            echo "$name: $(column $file) lacks the text to replace"
            failed=1
            continue 2
        fi
    done
    (cd $copy && ../../embed kernels gen/kernels.def gen/kernels/native.h gen/kernels/expressions.h $KERNEL_FILES > ipt_kernels.h)
    ${CC:-gcc} ${CFLAGS:--std=c99 -O2} -w -DIPT_NO_NATIVE -I$copy -I. -Itests/support -o "$out/$program" "$here/$program.c" ${LDLIBS:--lOpenCL -lpthread}
    log=$out/$(echo "$name" | tr ' ' _).log
    status=0
    # shellcheck disable=SC2086
    timeout 600 "$out/$program" $arguments > "$log" 2>&1 < /dev/null || status=$?
    if [ $status = 0 ] || [ $status = 77 ]; then # 77: a part was skipped
        echo "$name: not found"
        failed=1
    else
        printf '%s: %s\n' "$name" "$(grep -m 1 '^FAILED\| failed; \|^LEFT OVER\|^HANGS\|^case 0x\|failed in case\|^the first one\|wrong' "$log" | cut -c 1-110), $(grep -o '^[0-9]* cases' "$log" || echo "ended with $status")"
    fi
done < $out/list
exit $failed
