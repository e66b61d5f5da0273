# Gomez-Luna et al. 2016, Fig. 10: speed of padding and unpadding by number of rows.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
lines(direction, kernel) = sprintf("< awk -F, '$2 == \"%s\" && $3 == \"%s\" { print $1 \",\" $4 \",\" $5 }' %s", direction, kernel, csv)
set title "Padding and unpadding one column of a square of 4-byte elements (Fig. 10)" font "sans,15"
set xlabel "rows" offset 0,0.9
set bmargin 9
set ylabel "read and written, GB/s"
set grid ytics lc rgb "#dddddd"
set tics out nomirror
set border 3
set yrange [0:*]
set key below maxrows 2 Left reverse samplen 2
plot lines("pad", "neighbours") using 1:3 with lines dt 2 lc rgb "black" title "copy", \
    lines("pad", "neighbours") using 1:2 with linespoints pt 7 lw 2 lc rgb "#1b6ca8" title "pad, ipt", \
    lines("unpad", "neighbours") using 1:2 with linespoints pt 6 lw 2 lc rgb "#1b6ca8" title "unpad, ipt", \
    lines("pad", "chained") using 1:2 with linespoints pt 7 lw 2 lc rgb "#e08214" title "pad, as published", \
    lines("unpad", "chained") using 1:2 with linespoints pt 6 lw 2 lc rgb "#e08214" title "unpad, as published"
