# Writes the release, ipt-VERSION.tar.gz, into a folder: the committed tree and single/ipt.h, the library in one file. The same
# commit yields the same bytes anywhere: names are sorted, times are the commit's, owners are numbers. dist.sh SINGLE FOLDER
set -eu
single=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
version=$(sh gen/version.sh)
sh gen/version.sh check
[ -z "$(git status --porcelain --untracked-files=no)" ] || echo "dist: the tree has changes that are not committed: they are not released"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
name=ipt-$version
rm -rf "${folder:?}/$name"
mkdir "$folder/$name"
git archive HEAD | tar -x -C "$folder/$name"
mkdir "$folder/$name/single"
cp "$single" "$folder/$name/single/ipt.h"
find "$folder/$name" -type d -exec chmod 755 {} + -o -perm /111 -exec chmod 755 {} + -o -exec chmod 644 {} +
tar -C "$folder" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" |
    gzip -n -9 >"$folder/$name.tar.gz"
rm -rf "${folder:?}/$name"
(cd "$folder" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
