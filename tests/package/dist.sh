# Two builds of the release are identical, and a user can build, install and test the release. dist.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
fail() {
    echo "dist: $*"
    exit 1
}
cd "$root"
git rev-parse --git-dir >/dev/null 2>&1 || { sh tests/skipped.sh note dist "no git repository to make the release of"; exit 0; }
rm -rf "$1"
sh gen/package/dist.sh build/single/ipt.h "$1/one" >/dev/null
(umask 077 && TZ=Asia/Tokyo sh gen/package/dist.sh build/single/ipt.h "$1/two" >/dev/null)
cd "$1"
cmp one/*.tar.gz two/*.tar.gz || fail "two releases of one commit differ"
(cd one && sha256sum -c --quiet ./*.sha256) || fail "the sum is wrong"
tar -xzf one/*.tar.gz
cd ipt-*
for file in ipt.h ipt_kernels.h single/ipt.h README.md LICENSE gen/doc/install.md; do
    [ -s $file ] || fail "$file is missing"
done
cp "$root/examples/01_one_liner.c" single
${CC:-cc} -Isingle -o one_liner single/01_one_liner.c -lOpenCL -lpthread -lm >log 2>&1 || { cat log; fail "the single header"; }
./one_liner >log 2>&1 || { cat log; fail "a program with the single header"; }
make --no-print-directory check-gen >log 2>&1 || { cat log; fail "make check ONLY=check-gen in the release"; }
echo "dist: $(basename ../one/*.tar.gz) is reproducible and complete"
