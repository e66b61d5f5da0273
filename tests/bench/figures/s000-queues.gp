# Over the number of queues: part of what the transfers alone take, a line to a matrix and a kind of memory.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
line = "< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $3 ~ /%s by Q/ { q = $3; gsub(/.*= |\"/, \"\", q); print q \",\" $6 }' ".csv
shapes = system("awk -F, 'NR > 1 && !($1 in seen) { seen[$1] = 1; printf \"%s \", $1 }' ".csv)
set title "Host matrices by parts in Q command queues (Sung et al. 2014, section 7.6)" noenhanced
set xlabel "Q"
set ylabel "speed / upload and download of the same bytes"
set logscale x 2
set xrange [0.8:40]
set yrange [0:*]
set grid ytics
set key bmargin center horizontal maxcols 2 noenhanced
set bmargin 9
plot for [s in shapes] sprintf(line, s, "pinned", "overlapped") using 1:2 with linespoints lw 2 pt 7 title s."; pinned; by parts", \
     for [s in shapes] sprintf(line, s, "pageable", "overlapped") using 1:2 with linespoints dt 2 pt 6 title s."; pageable; by parts", \
     for [s in shapes] sprintf(line, s, "pinned", "3.1 by parts") using 1:2 with linespoints pt 4 title s."; pinned; scheme of Sung et al. 2014"
