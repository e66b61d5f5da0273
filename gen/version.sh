# Prints the version, such as 0.1.0, from IPT_VERSION in ipt.h, the one place that has it. `interface`: the number in the
# shared library's name: before version 1 each minor version has its own. `check`: the documents that repeat the version
# are right, or it names those to change.
set -eu
cd "$(dirname "$0")/.."
number=$(sed -n 's/^#define IPT_VERSION \([0-9]*\)$/\1/p' ipt.h)
version=$((number / 10000)).$((number / 100 % 100)).$((number % 100))
case ${1-} in
'') echo "$version"; exit ;;
interface) [ $((number / 10000)) = 0 ] && echo 0.$((number / 100)) || echo $((number / 10000)); exit ;;
esac
grep -q "^/\* ipt $version: " ipt.h || { echo "gen/library/interface/manual.h: its first line must name $version"; exit 1; }
grep -q "^  \"version\": \"$version\",$" gen/package/vcpkg/ipt/vcpkg.json ||
    { echo "gen/package/vcpkg/ipt/vcpkg.json: version must be $version"; exit 1; }
grep -q "^version: $version$" gen/doc/CITATION.cff || { echo "gen/doc/CITATION.cff: version must be $version"; exit 1; }
