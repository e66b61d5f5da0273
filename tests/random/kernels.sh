# Compares the kernels' code in the working tree with another revision: `kernels.sh REVISION [CASES] [SEED] [KERNEL]`, for one
# kernel or all. clang compiles texts of random plans and batches on simulated devices to PTX; ptxas assembles the PTX, if it
# is installed. All functions are inlined first: otherwise the optimiser's decisions depend on how functions receive values.
# Two texts are equal if their PTX is, apart from the names of registers and labels; reordered if each instruction occurs
# equally often. The table shows the kernels with other differences, with sums over all their texts, before and after:
# instructions, registers of ptxas, bytes of .local memory and of spilled registers. build/kernels/differing has the counts
# that differ. Exit code: 0 if there are none. Run it from the repository's root.
set -eu
revision=${1:?usage: kernels.sh REVISION [CASES] [SEED] [KERNEL]}
cases=${2:-1000}
seed=${3:-1}
only=${4:-*}
llvm=${LLVM:--14}
library=/usr/lib/clc/nvptx64--nvidiacl.bc
ptxas=$(command -v ptxas || true)
out=build/kernels
rm -rf $out
mkdir -p $out/base $out/tree
for header in ipt.h ipt_kernels.h; do git show "$revision:$header" > $out/base/$header; done
for side in base tree; do
    from=.
    [ $side = tree ] || from=$out/base
    ${CC:-gcc} -std=c99 -O1 -Wall -Wextra -Wno-unused-function -I$from -o $out/$side.program tests/random/choices.c -ldl -lpthread
    $out/$side.program --cases "$cases" --seed "$seed" --texts $out/$side
    (cd $out/$side && ls -- $only-*.cl) > $out/$side.names
done
cmp $out/base.names $out/tree.names
sed "s|^|$out/base/|" $out/base.names | awk -f tests/random/kernels.awk > $out/selected

# Compiles a text to FILE.ptx, FILE.body (of the kernel, with registers and labels numbered as they come) and FILE.counts.
code() {
    standard=CL1.2
    ! grep -qE '^#define IPT_(MEMORY_MODEL 3|SUB_GROUP [23])' "$1" || standard=CL2.0
    clang$llvm -x cl -cl-std=$standard -Xclang -cl-ext=+cl_khr_subgroups,+cl_intel_subgroups -O2 -w \
        -fno-caret-diagnostics -Xclang -disable-llvm-passes -emit-llvm --target=nvptx64-nvidia-nvcl -Xclang -target-cpu \
        -Xclang sm_80 -Xclang -target-feature -Xclang +ptx74 -Xclang -mlink-builtin-bitcode -Xclang $library -c "$1" \
        -o $out/k.bc &&
        opt$llvm '-passes=always-inline,internalize,globaldce,default<O2>' -internalize-public-api-list="ipt_k_$kernel" \
            -aa-pipeline=basic-aa,scoped-noalias-aa,tbaa $out/k.bc -o $out/o.bc 2> $out/opt.log &&
        llc$llvm -O2 --asm-verbose=0 $reduce -mcpu=sm_80 -mattr=+ptx74 $out/o.bc -o "$1.ptx" 2> $out/llc.log || return 1
    awk '/\.entry/ { inside = 1 }
        inside && !/\.reg/ {
            line = $0
            gsub(/^[ \t]+|\/\/.*/, "", line)
            while (match(line, /%(p|rs|r|rd|f|fd)[0-9]+|\$?L?_*L?BB[0-9_]+/)) {
                name = substr(line, RSTART, RLENGTH)
                if (!(name in number)) number[name] = ++count
                printf "%s<%d>", substr(line, 1, RSTART - 1), number[name]
                line = substr(line, RSTART + RLENGTH)
            }
            print line
        }
        /^}/ { inside = 0 }' "$1.ptx" > "$1.body"
    {
        sed -n 's/^@!*<[0-9]*>[ \t]*//; s/^\([a-z][a-z0-9_.:]*\)[ \t;].*/\1/p; s/^\([a-z.0-9]*\);$/\1/p' "$1.body" | sort |
            uniq -c | sed 's/^ *//'
        sed -n 's/^\.local.*\[\([0-9]*\)\];.*/\1 LOCAL/p' "$1.body"
        [ -z "$ptxas" ] || $ptxas -arch=sm_80 -v "$1.ptx" -o $out/k.cubin 2>&1 | sed -n \
            's/.* \([0-9]*\) bytes spill stores.*/\1 SPILLED/p; s/.*Used \([0-9]*\) registers.*/\1 REGISTERS/p'
    } > "$1.counts"
}

while read -r base; do
    tree=$out/tree/${base##*/}
    kernel=${base##*/}
    kernel=${kernel%%-*}
    reduce=
    if ! code "$base" || ! code "$tree"; then
        reduce=-disable-lsr # LLVM 14 aborts in this pass for some texts
    fi
    if [ -n "$reduce" ] && { ! code "$base" || ! code "$tree"; }; then
        echo "$kernel fails"
        continue
    elif cmp -s "$base.body" "$tree.body"; then
        echo "$kernel equal"
    elif cmp -s "$base.counts" "$tree.counts"; then
        echo "$kernel ordered"
    else
        printf '%s:\n' "$tree" >> $out/differing
        diff "$base.counts" "$tree.counts" >> $out/differing || true
        echo "$kernel differs"
    fi
    for side in base tree; do
        awk -v kernel="$kernel" -v side=$side '
            $2 ~ /^[A-Z]/ { sum[$2] += $1; next }
            { sum["INSTRUCTIONS"] += $1 }
            END { for (of in sum) print kernel, side, of, sum[of] }' $out/$side/"${base##*/}".counts
    done
done < $out/selected > $out/results
awk -v revision="$revision" -v seed="$seed" '
    NF == 2 { ++texts[$1]; ++all; ++as[$2]; if ($2 != "equal" && $2 != "ordered") ++bad[$1] }
    NF == 4 { sum[$1, $2, $3] += $4 }
    function pair(kernel, of) { return sprintf("%d -> %d", sum[kernel, "base", of], sum[kernel, "tree", of]) }
    END {
        if (length(bad))
            print "kernel, differing of all texts: instructions; registers; local; spilled"
        for (kernel in bad)
            printf "%s, %d of %d: %s; %s; %s; %s\n", kernel, bad[kernel], texts[kernel], pair(kernel, "INSTRUCTIONS"),
                pair(kernel, "REGISTERS"), pair(kernel, "LOCAL"), pair(kernel, "SPILLED") | "sort"
        close("sort")
        printf "kernels: %d texts, seed %s, against %s: %d equal, %d ordered otherwise, %d differ, %d fail\n", all, seed,
            revision, as["equal"], as["ordered"], as["differs"], as["fails"]
        exit as["differs"] + as["fails"] > 0
    }' $out/results
