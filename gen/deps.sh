# Installs missing Debian packages and prints their names: `deps.sh NEEDED... [--optional WISHED...]`.
# If a needed package cannot be installed, it prints the name and exits with 1. It installs an optional package if the
# distribution has it and this user may install it. Otherwise it prints the name, and the tests that need it are skipped.
# N in a name (libclc-N) stands for the version of the distribution's package `clang`. An installed libclc of any version
# stays, because two versions conflict.
# IPT_NO_DEPS=1 installs and checks nothing: for distributions, whose packages name what they need.
set -eu
[ -z "${IPT_NO_DEPS-}" ] || exit 0

is_installed() { # PACKAGE
    dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed$'
}

clang_version() {
    apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1
}

is_offered() { # PACKAGE
    apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

needed= wished= optional=
for package in "$@"; do
    case $package in
    --optional) optional=yes; continue ;;
    libclc-N) [ ! -e /usr/lib/clc/nvptx64--nvidiacl.bc ] || continue ;;
    esac
    case $package in *-N)
        version=$(clang_version)
        [ -z "$version" ] || package=${package%N}$version
        ;;
    esac
    is_installed "$package" && continue
    [ -n "$optional" ] && wished="$wished $package" || needed="$needed $package"
done
[ -n "$needed$wished" ] || exit 0

as_root=no
if command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif sudo -n true 2>/dev/null; then
        as_root=sudo
    fi
fi
if [ "$as_root" = no ]; then
    [ -n "$needed" ] || { echo "Not installed, so some tests are skipped:$wished"; exit 0; }
    if command -v apt-get >/dev/null; then
        echo "These packages are missing. Installing them needs root:"
        echo "  sudo apt-get install --no-install-recommends$needed$wished"
    else
        echo "ipt needs the content of these Debian packages, and this system has no apt-get to install them:$needed"
    fi
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() { # PACKAGE...
    echo "Installing through apt: $*"
    $as_root apt-get install -y --no-remove --no-install-recommends "$@" >"$log" 2>&1
}

# Without package lists, apt offers no package.
if [ -n "$needed" ] || ! is_offered libc6; then
    $as_root apt-get update >"$log" 2>&1 || { tail -n 20 "$log"; [ -z "$needed" ] || exit 1; }
fi
# shellcheck disable=SC2086
[ -z "$needed" ] || install $needed || { tail -n 20 "$log"; echo "apt could not install:$needed"; exit 1; }
offered= absent=
for package in $wished; do
    case $package in *-N)
        version=$(clang_version)
        [ -z "$version" ] || package=${package%N}$version
        ;;
    esac
    is_installed "$package" && continue
    is_offered "$package" && offered="$offered $package" || absent="$absent $package"
done
# shellcheck disable=SC2086
if [ -n "$offered" ] && ! install $offered; then
    for package in $offered; do # one package may block the others
        is_installed "$package" || install "$package" || echo "Not installed, so some tests are skipped: $package"
    done
fi
[ -z "$absent" ] || echo "Not in this distribution, so some tests are skipped:$absent"
