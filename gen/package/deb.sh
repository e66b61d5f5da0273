# Builds the Debian packages of the tree, without what it has built, and without root: deb.sh FOLDER. debian/ at the top of a copy comes from
# gen/package/debian; its changelog and copyright are written from the version and LICENSE.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version=$(sh "$root/gen/version.sh")
interface=$(sh "$root/gen/version.sh" interface)
source=$folder/ipt-$version
rm -rf "$source"
mkdir "$source"
cd "$root"
tar -c --exclude=gen/python/build --exclude='*.egg-info' --exclude=__pycache__ \
    ipt.h ipt_kernels.h gen examples tests Makefile README.md LICENSE | tar -x -C "$source"
cp -R gen/package/debian "$source/debian"
cd "$source"
mv debian/library.install "debian/libipt$interface.install"
sed -i "s/@INTERFACE@/$interface/" debian/control
cat >debian/changelog <<EOF
ipt ($version) unstable; urgency=medium

  * See gen/doc/CHANGELOG.md.

 -- The ipt authors <ipt@localhost>  $(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:-$(cd "$root" && git log -1 --format=%ct 2>/dev/null || date +%s)}")
EOF
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: ipt\n\n'
    printf 'Files: *\nCopyright: %s\nLicense: Expat\n' "$(sed -n 's/^Copyright (c) //p' LICENSE)"
    sed -e '1,/^Copyright/d' LICENSE | sed -e '/./!d' -e 's/^/ /'
} >debian/copyright
log=$folder/log
dpkg-buildpackage -us -uc -b >"$log" 2>&1 || { tail -n 30 "$log" >&2; exit 1; }
ls "$folder"/*.deb
