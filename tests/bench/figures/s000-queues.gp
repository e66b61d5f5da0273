# Speed relative to the transfers alone, over the number of queues. One line for each matrix and kind of memory.
legend = 3
load here."/common.gp"
line = "< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $3 ~ /%s by Q/ { q = $3; gsub(/.*= |\"/, \"\", q); print q \",\" $6 }' ".csv
shapes = system("awk -F, 'NR > 1 && !($1 in seen) { seen[$1] = 1; printf \"%s \", $1 }' ".csv)
set label 1 n_of(count_if("$3 ~ /by Q/ && ($2 == \"pinned\" || $3 ~ /overlapped/)"), "")." measurements\nspeed over that of the transfers alone" @above
set xlabel "Q, command queues"
set logscale x 2
set xrange [0.8:40]
set yrange [0:*]
plot for [s in shapes] sprintf(line, s, "pinned", "overlapped") using 1:2 with linespoints lw 2 pt 7 title s.", pinned", \
     for [s in shapes] sprintf(line, s, "pageable", "overlapped") using 1:2 with linespoints dt 2 pt 6 title s.", pageable", \
     for [s in shapes] sprintf(line, s, "pinned", "3.1 by parts") using 1:2 with linespoints pt 4 title s.", the paper's scheme"
