# Installs the Debian packages that are named and missing, and says so; without the right to install it names them and
# stops with 1. Other systems are told what is needed.
set -eu

missing=
for package in "$@"; do
    if ! dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed$'; then
        missing="$missing $package"
    fi
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "ipt needs what these Debian packages hold, and there is no apt-get here to install them:$missing"
    exit 1
elif [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "These packages are missing, and installing them needs root:"
    echo "  sudo apt-get install$missing"
    exit 1
fi

echo "Installing through apt:$missing"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log"
    echo "apt could not install:$missing"
    exit 1
fi
rm -f "$log"
