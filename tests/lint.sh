# clang's OpenCL lint over every kernel for every class of parameters. Arguments: the program that writes the texts, a folder.
set -eu
rm -rf "$2"
mkdir -p "$2"
count=$("$1" "$2")
# Argument lists are shared by the classes of a kernel, so an argument may be unused in one.
find "$2" -name '*.cl' -print0 | xargs -0 -n 8 -P 2 clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header \
    -Wall -Wextra -Wpedantic -Werror -Wno-unused-parameter -fsyntax-only
echo "lint: $count specialised kernels passed"
