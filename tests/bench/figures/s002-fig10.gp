# Speed of padding and unpadding by number of rows.
legend = 3
load here."/common.gp"
lines(direction, kernel) = sprintf("< awk -F, '$2 == \"%s\" && $3 == \"%s\" { print $1 \",\" $4 \",\" $5 }' %s", direction, kernel, csv)
set label 1 n_of(count_if('$2 != "example"'), "elements of 4 bytes")." measurements\nGB/s, read and written" @above
set xlabel "rows"
set yrange [0:*]
plot lines("pad", "neighbours") using 1:3 with lines dt 2 lc rgb "black" title "copy", \
    lines("pad", "neighbours") using 1:2 with linespoints pt 7 lw 2 lc rgb "#1b6ca8" title "pad, ipt", \
    lines("unpad", "neighbours") using 1:2 with linespoints pt 6 lw 2 lc rgb "#1b6ca8" title "unpad, ipt", \
    lines("pad", "chained") using 1:2 with linespoints pt 7 lw 2 lc rgb "#e08214" title "pad, as published", \
    lines("unpad", "chained") using 1:2 with linespoints pt 6 lw 2 lc rgb "#e08214" title "unpad, as published"
