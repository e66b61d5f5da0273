# Programs and shared libraries of different versions: a program that was compiled with an ipt.h whose descs lack a field runs
# with a later library, and one whose descs have a further field runs with an earlier library only if that field is zero.
# versions.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1/now" "$1/later"
folder=$(cd "$1" && pwd)
cp "$root/ipt.h" "$root/ipt_kernels.h" "$root/gen/package/ipt.c" "$folder/now"
cp "$root/ipt_kernels.h" "$root/gen/package/ipt.c" "$folder/later"
# The later version: one more field at the end of each desc. A plan whose `added` is not zero is refused by its value.
sed -e 's|^} ipt_context_desc;|    size_t added;\n&|' -e 's|^} ipt_plan_desc;|    size_t added;\n&|' \
    -e 's|^    return taken.rank ? ipt__axes_plan_make(&context|    if (taken.added)\n        return ipt__fail(IPT_ERROR_UNSUPPORTED, "added is %lu", (unsigned long)taken.added);\n&|' \
    "$root/ipt.h" >"$folder/later/ipt.h"
[ "$(diff "$root/ipt.h" "$folder/later/ipt.h" | grep -c '^>')" = 4 ] || { echo "versions: ipt.h has changed: adapt this script"; exit 1; }
cat >"$folder/user.c" <<'EOF'
#include "ipt.h"
#include <stdio.h>
#include <string.h>
/* What follows a desc in memory belongs to others. */
static struct { ipt_plan_desc desc; size_t other; } mine = {{0}, 77};
static struct { ipt_context_desc desc; size_t other; } its = {{0}, 78};
int main(int count, char **words)
{
    ipt_context *context = NULL;
    ipt_plan *plan = NULL;
    static int matrix[6] = {0, 1, 2, 3, 4, 5};
    mine.desc.rows = 2, mine.desc.cols = 3, mine.desc.elem_size = sizeof *matrix;
#ifdef HAS_ADDED
    mine.desc.added = count > 1 ? 5 : 0;
#endif
    if (ipt_context_create(&its.desc, &context) || ipt_plan_create(context, &mine.desc, &plan) ||
        ipt_plan_execute_host(plan, matrix)) {
        puts(ipt_context_error(NULL));
        return 1;
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    (void)words;
    return matrix[1] != 3 || matrix[4] != 2 || mine.other != 77 || its.other != 78;
}
EOF
for version in now later; do
    cd "$folder/$version"
    ${CC:-cc} -O1 -w -shared -fPIC -fvisibility=hidden -o libipt.so ipt.c -lOpenCL -lpthread
    ${CC:-cc} -w $([ $version = now ] || echo -DHAS_ADDED) -I. -o user ../user.c -L. -lipt -lOpenCL
done
cd "$folder"
expect() { # LIBRARY PROGRAM ARGUMENT STATUS WORDS
    status=0
    said=$(LD_LIBRARY_PATH=$folder/$1 "$folder/$2/user" $3) || status=$?
    [ "$status" = "$4" ] || { echo "versions: the program of $2 with the library of $1 $3: $status, not $4: $said"; exit 1; }
    case $said in *"$5"*) ;; *) echo "versions: it says '$said', not '$5'"; exit 1 ;; esac
}
expect now now "" 0 ""
expect later now "" 0 ""          # an earlier program, a later library
expect later later "" 0 ""
expect later later 5 1 "added is 5"
expect now later "" 0 ""          # a later program that does not use what is new
expect now later 5 1 "desc has fields that ipt"
echo "versions: 6 pairs of a program and a library are right"
