# Bars for every way: the mean over the matrices, from pinned and from pageable memory.
set terminal svg size 900,560 font "sans,13" background "white"
set output svg
set datafile separator ","
means = "< awk -F, 'NR > 1 && $3 !~ /Q = (2|8|16|32)\"$/ && ($2 == \"%s\") { way = $3; gsub(/\"/, \"\", way); ".\
        "if (!(way in sum)) order[++n] = way; sum[way] += $5; ++count[way] } ".\
        "END { for (i = 1; i <= n; ++i) print order[i] \",\" sum[order[i]] / count[order[i]] }' ".csv
set title "Matrices in host memory, there and back (Sung et al. 2014, table 3)" noenhanced
set ylabel "bytes read and written, GB/s, mean of all matrices"
set style data histogram
set style histogram clustered gap 1
set style fill solid 1 border -1
set yrange [0:*]
set grid ytics
set key bmargin center horizontal
set xtics rotate by -35 nomirror scale 0 font ",11" noenhanced
set bmargin 13
plot sprintf(means, "pinned") using 2:xtic(1) title "pinned memory" lc rgb "#2e8b57", \
     sprintf(means, "pageable") using 2 title "pageable memory" lc rgb "#5a9bd4"
