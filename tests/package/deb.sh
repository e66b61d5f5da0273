# Builds and installs the Debian packages, runs the installed programs, and removes the packages. Without root, or if ipt
# is installed already, only unpacks the packages. deb.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
fail() {
    echo "deb: $*"
    exit 1
}
for command in dpkg-buildpackage dh; do
    command -v $command >/dev/null || {
        (cd "$root" && sh tests/skipped.sh note deb "no $command: Debian packages (Debian: debhelper, dpkg-dev)")
        exit 0
    }
done
sh "$root/gen/package/deb.sh" "$1" >/dev/null
folder=$(cd "$1" && pwd)
interface=$(sh "$root/gen/version.sh" interface)
packages="libipt$interface libipt-dev ipt"
files=
for package in $packages; do files="$files $(ls "$folder/${package}_"*.deb)"; done

unpacked=
installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed$'; }
if [ "$(id -u)" = 0 ] && ! installed ipt && ! installed libipt-dev; then
    # shellcheck disable=SC2064,SC2086
    trap "dpkg --purge ipt libipt-dev libipt$interface >/dev/null 2>&1" EXIT
    # shellcheck disable=SC2086
    dpkg -i $files >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; fail "dpkg -i"; }
    how=installed
else
    unpacked=$folder/root
    rm -rf "$unpacked"
    for file in $files; do dpkg-deb -x "$file" "$unpacked"; done
    how=unpacked
fi
libraries=$(dirname "$(dpkg-deb -c "$folder/libipt${interface}_"*.deb | sed -n 's/.* \.\(\/.*\/libipt\.so\.[^ ]*\) .*/\1/p' | head -n 1)")

"$unpacked/usr/bin/ipt" --version | grep -q "ipt $(sh "$root/gen/version.sh")" || fail "ipt --version"
head -c 14000 "$root/ipt.h" >"$folder/m.raw" # 70 x 50 elements of 4 bytes
cp "$folder/m.raw" "$folder/before"
"$unpacked/usr/bin/ipt" transpose "$folder/m.raw" --raw 70x50:4 || fail "ipt transpose"
! cmp -s "$folder/m.raw" "$folder/before" || fail "ipt transpose has changed nothing"
"$unpacked/usr/bin/ipt" transpose "$folder/m.raw" --raw 50x70:4 || fail "ipt transpose"
cmp -s "$folder/m.raw" "$folder/before" || fail "two transpositions are not what was there"
cat >"$folder/user.c" <<'EOF'
#include <ipt.h>
int main(void)
{
    static int matrix[6] = {0, 1, 2, 3, 4, 5};
    return ipt_transpose(matrix, 2, 3, sizeof *matrix) || matrix[1] != 3 || matrix[4] != 2;
}
EOF
${CC:-cc} -I"$unpacked/usr/include" -o "$folder/user" "$folder/user.c" -L"$unpacked$libraries" -lipt -lOpenCL || fail "libipt-dev"
LD_LIBRARY_PATH=$unpacked$libraries "$folder/user" || fail "a program with libipt$interface"
readelf -d "$folder/user" | grep -q "libipt.so.$interface" || fail "the program names another library"
echo "deb: $packages $how, and what they contain works"
