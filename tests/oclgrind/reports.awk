# Counts the reports in oclgrind's log by kernel, report, work-groups and statements, and compares them with the file
# named by `expected`. Prints `expected COUNT REPORT`, `unexpected COUNT REPORT` and `met NUMBER`, the line of an entry.
BEGIN {
    while ((getline line < expected) > 0) {
        ++line_number
        if (line ~ /^(#|$)/)
            continue
        split(line, column, " [|] ")
        ++entries
        entry_line[entries] = line_number
        for (c = 1; c <= 5; ++c)
            entry[entries, c] = column[c]
    }
}
function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}
# The source line behind "At line N (column M) of FILE:".
function statement(number, file,    path, at, line, folder, folders, found) {
    sub(/:$/, "", file)
    if (!((file, number) in source)) {
        folders = split("/ /boxes/ /seeds/ /views/", folder, " ")
        for (at = 1; at <= folders; ++at) {
            path = "gen/kernels" folder[at] file
            found = (getline line < path) >= 0
            close(path)
            if (found)
                break
        }
        for (at = 1; (getline line < path) > 0; ++at)
            source[file, at] = trim(line)
        close(path)
    }
    return file ": " source[file, number]
}
function finish(    key) {
    if (report == "")
        return
    key = kernel " | " report (groups == 2 ? " | " (group[1] == group[2] ? "within" : "between") : "")
    for (s = 1; s <= statements; ++s)
        key = key " | " place[s]
    ++count[key]
    key_kernel[key] = kernel
    key_report[key] = report
    key_scope[key] = groups == 2 && group[1] != group[2] ? "between" : "within"
    one[key] = place[1]
    other[key] = groups == 2 ? place[2] : "-"
    report = ""
}
/^[^\t ]/ {
    finish()
    report = $0
    sub(/ address 0x[0-9a-f]*$/, "", report)
    kernel = ""
    groups = statements = 0
}
/^\tKernel:/ { kernel = $2 }
/^\t(First entity:|Second entity:)/ {
    group[++groups] = $0
    sub(/.*Group/, "Group", group[groups])
}
/^\tAt line [0-9]+ / { place[++statements] = statement($3, $NF) }
END {
    finish()
    for (key in count) {
        found = 0
        for (e = 1; e <= entries && !found; ++e)
            if (key_kernel[key] == entry[e, 1] && key_report[key] == entry[e, 2] && key_scope[key] == entry[e, 3] &&
                ((one[key] ~ entry[e, 4] && other[key] ~ entry[e, 5]) || (one[key] ~ entry[e, 5] && other[key] ~ entry[e, 4])))
                found = e
        print (found ? "expected" : "unexpected"), count[key], key
        if (found && !met[found]++)
            print "met " entry_line[found]
    }
}
