# Bars for every way: the mean over the matrices, from pinned and from pageable memory.
height = 620
legend = 1
load here."/common.gp"
kept = '$3 !~ /Q = (2|8|16|32)"$/ && $2 != "CPU"'
means = "< awk -F, 'NR > 1 && ".kept." && $2 == \"%s\" { way = $3; gsub(/\"/, \"\", way); sub(/^in place; /, \"\", way); ".\
        "if (!(way in sum)) order[++n] = way; sum[way] += $5; ++count[way] } ".\
        "END { for (i = 1; i <= n; ++i) print order[i] \",\" sum[order[i]] / count[order[i]] }' ".csv
set label 1 n_of(count_if(kept), "means of all matrices")." measurements\nin place unless named otherwise" \
    at screen 0.03, graph 1 offset 0, 2 left noenhanced
set lmargin at screen 0.43
set xlabel "GB/s, read and written"
set style fill solid 1 border -1
set xrange [0:*]
set yrange [*:*] reverse
set offsets 0, 0, 0.5, 0.5
unset grid
set grid xtics lc rgb "#dddddd"
set ytics scale 0 noenhanced font ",13"
plot sprintf(means, "pinned") using ($2 / 2):($0 - 0.18):($2 / 2):(0.17):ytic(1) with boxxyerror title "pinned memory" lc rgb "#2e8b57", \
     sprintf(means, "pageable") using ($2 / 2):($0 + 0.18):($2 / 2):(0.17) with boxxyerror title "pageable memory" lc rgb "#5a9bd4"
