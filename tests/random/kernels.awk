# Selects kernel texts, one path a line, so that any two definitions that occur together in a kernel's texts occur together in
# a selected one. Numbers that only set a size count as 1 or more.
function reduced(name, value) {
    if (name ~ /LOCAL_BYTES|GROUPS_AT_ONCE|PIECE_VECTORS/)
        return 0
    return name ~ /GROUP_SIZE|LANES|TILE|REGISTERS|CHAINS|FLAG_SPREAD/ && value > 1 ? 2 : value
}
{
    path = $0
    kernel = path
    sub(/.*\//, "", kernel)
    sub(/-.*/, "", kernel)
    count = 0
    while ((getline line < path) > 0 && line !~ /^#define IPT_ARGUMENT_LIST/)
        if (split(line, word, " ") == 3 && word[1] == "#define" && word[2] ~ /^IPT_|_LAYOUT$/ && word[3] ~ /^[0-9]+$/)
            of[++count] = word[2] "=" reduced(word[2], word[3])
    close(path)
    new = 0
    for (i = 1; i <= count; ++i)
        for (j = i; j <= count; ++j)
            if (!seen[kernel, of[i], of[j]]++)
                new = 1
    if (new)
        print path
}
