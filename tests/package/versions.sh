# Programs and shared libraries of different versions: a program whose ipt.h lacks a field of a struct runs with a later
# library. A program whose ipt.h has an additional field runs with an earlier library only if the field is zero. The structs:
# the descs of contexts and plans, host options, and storages. versions.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1/now" "$1/later"
folder=$(cd "$1" && pwd)
cp "$root/ipt.h" "$root/ipt_kernels.h" "$root/gen/package/ipt.c" "$folder/now"
cp "$root/ipt_kernels.h" "$root/gen/package/ipt.c" "$folder/later"
# The later version: one more field, `added`, at the end of each struct. The library refuses other values than zero.
refusal='if (taken.added)\n        return ipt__fail(IPT_ERROR_UNSUPPORTED, "added is %lu", (unsigned long)taken.added);'
sed -e 's/^} \(ipt_context_desc\|ipt_plan_desc\|ipt_host_options\|ipt_storage\);/    size_t added;\n&/' \
    -e "s/^    return ipt__plan_make_or_advise(&context/    $refusal\\n&/" \
    -e "s/^    return result ? result : ipt__host_execute_any(plan, data, &taken);/    $refusal\\n&/" \
    -e "s/^    result = ipt__storage_execute_all(plan, &taken);/    $refusal\\n&/" \
    "$root/ipt.h" >"$folder/later/ipt.h"
[ "$(diff "$root/ipt.h" "$folder/later/ipt.h" | grep -c '^>')" = 10 ] || { echo "versions: ipt.h has changed: adapt this script"; exit 1; }
cat >"$folder/user.c" <<'EOF'
#include "ipt.h"
#include <stdio.h>
#include <string.h>
/* What follows a struct in memory belongs to others. */
static struct { ipt_plan_desc desc; size_t other; } mine = {{0}, 77};
static struct { ipt_context_desc desc; size_t other; } its = {{0}, 78};
static struct { ipt_host_options options; size_t other; } with = {{0}, 79};
static struct { ipt_storage storage; size_t other; } in = {{0}, 80};
static int matrix[6] = {0, 1, 2, 3, 4, 5};
static int read_part(void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy(memory, (char *)user + offset, bytes);
    return 0;
}
static int write_part(const void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy((char *)user + offset, memory, bytes);
    return 0;
}
int main(int count, char **words)
{
    ipt_context *context = NULL;
    ipt_plan *plan = NULL, *back = NULL;
    ipt_plan_desc desc = {0};
    mine.desc.rows = 2, mine.desc.cols = 3, mine.desc.elem_size = sizeof *matrix;
    desc = mine.desc;
    desc.rows = 3, desc.cols = 2, desc.max_host_memory = 1 << 20;
    in.storage.read = read_part, in.storage.write = write_part, in.storage.user = matrix;
#ifdef HAS_ADDED
    mine.desc.added = count > 1 && !strcmp(words[1], "desc") ? 5 : 0;
    with.options.added = count > 1 && !strcmp(words[1], "options") ? 5 : 0;
    in.storage.added = count > 1 && !strcmp(words[1], "storage") ? 5 : 0;
#endif
    if (ipt_context_create(&its.desc, &context) || ipt_plan_create(context, &mine.desc, &plan) ||
        ipt_plan_create(context, &desc, &back) || ipt_plan_execute_host_with(plan, matrix, &with.options) ||
        matrix[1] != 3 || matrix[4] != 2 || ipt_plan_execute_storage(back, &in.storage)) {
        puts(ipt_context_error(NULL));
        return 1;
    }
    ipt_plan_destroy(plan);
    ipt_plan_destroy(back);
    ipt_context_destroy(context);
    (void)words, (void)count;
    return matrix[1] != 1 || matrix[4] != 4 || mine.other != 77 || its.other != 78 || with.other != 79 || in.other != 80;
}
EOF
for version in now later; do
    cd "$folder/$version"
    ${CC:-cc} -O1 -w -DIPT_NO_NATIVE -shared -fPIC -fvisibility=hidden -o libipt.so ipt.c -lOpenCL -lpthread
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
expect now later "" 0 "" # a later program that does not use the new field
for struct in desc options storage; do
    expect later later $struct 1 "added is 5"
    expect now later $struct 1 "$struct has fields that ipt"
done
echo "versions: 10 pairs of a program and a library are right"
