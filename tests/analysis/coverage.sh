# Line coverage of ipt.h by the test program: fails below 95 %. The arguments are the names of the test sources. A line is covered if
# it runs in any file that includes ipt.h. build/coverage/uncovered.txt lists the other lines. The tests tool_* of test_tool*,
# test_files and others are skipped. These tests only start the tool, a separate program; counting its lines would add two lines and
# a minute. TOOL_ARCHIVE: the tool's objects, some of which the tests call.
set -eu
limit=95
out=build/coverage
rm -rf $out
mkdir -p $out
for name in "$@"; do
    echo "$name"
done | xargs -P 2 -I NAME sh -c "${CC:-gcc} -std=c99 -O1 -g --coverage -DIPT_NO_NATIVE -I. -Itests/support -c -o $out/NAME.o tests/*/NAME.c"
${CC:-gcc} --coverage -o $out/ipt_tests $out/*.o $TOOL_ARCHIVE -lcmocka -lOpenCL -lpthread -lm

started=$(date +%s)
$out/ipt_tests '-tool_*' > $out/tests.log 2>&1 ||
    { grep -v '^\[ RUN\|^\[       OK' $out/tests.log | tail -n 30; echo "coverage: tests failed: $out/tests.log"; exit 1; }
echo "coverage: $(sed -n 's/^\[  PASSED  \] //p' $out/tests.log) in $(($(date +%s) - started)) s"

"${PYTHON:-python3}" - $out $limit << 'END'
import glob, json, os, subprocess, sys

out, limit = sys.argv[1], float(sys.argv[2])
counts, files = {}, 0
for notes in sorted(glob.glob(os.path.join(out, "*.gcno"))):
    if not os.path.exists(notes[:-4] + "gcda"):
        sys.exit("coverage: %s has not been run" % notes)
    report = subprocess.run(["gcov", "--json-format", "--stdout", notes], check=True, capture_output=True)
    lines = [line for source in json.loads(report.stdout)["files"] if os.path.basename(source["file"]) == "ipt.h"
             for line in source["lines"]]
    files += bool(lines)
    for line in lines:
        counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
if not counts:
    sys.exit("coverage: no file includes ipt.h")

with open("ipt.h") as source:
    text = source.read().splitlines()
function, functions = "-", {}
for number, line in enumerate(text, 1):
    if line[:1].isalpha() and "(" in line and not line.endswith(";"):
        heading = line.split("IPT__PRINTF(2, 3) ")[-1].split("(")[0].split()[-1].lstrip("*")
    elif line == "{":
        function = heading
    functions[number] = function
    if line == "}":
        function = "-"

# A range continues over lines without code.
ranges, open_range = [], False
for number in sorted(counts):
    if counts[number]:
        open_range = False
    elif open_range and functions[ranges[-1][0]] == functions[number]:
        ranges[-1][1] = number
    else:
        ranges.append([number, number])
        open_range = True
with open(os.path.join(out, "uncovered.txt"), "w") as listing:
    for first, last in ranges:
        listing.write("%d-%d %s\n" % (first, last, functions[first]))
        listing.writelines("    %s\n" % line for line in text[first - 1:last])
covered = sum(1 for count in counts.values() if count)
percent = 100 * covered / len(counts)
print("coverage: %.2f %% of the lines of ipt.h: %d of %d, in %d files; the others are %d ranges in %s/uncovered.txt"
      % (percent, covered, len(counts), files, len(ranges), out))
sys.exit(percent < limit)
END
