# Gomez-Luna et al. 2016, Fig. 4: on the left virtual SIMD units, on the right work-groups.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
lines(tiling, items) = sprintf("< awk -F, '$2 == \"%s\" && $3 == %d { print $1 \",\" $8 }' %s; echo NaN,NaN", tiling, items, csv)
colours = "#1b6ca8 #e08214 #5aae61 #b2182b #762a83"
set multiplot title "Transposition 100! alone, by length of the super-elements (Fig. 4)" font "sans,15"
set logscale x 2
set xrange [0.9:2800]
stats csv using (column("ratio")) nooutput name "all"
set yrange [0:1.05 * all_max > 0.45 ? 1.05 * all_max : 0.45]
set grid lc rgb "#dddddd"
set tics out nomirror
set border 3
set tmargin at screen 0.86
set bmargin at screen 0.36
set xlabel "super-element, words of 4 bytes" offset 0,0.4
set lmargin at screen 0.08
set rmargin at screen 0.49
set title "virtual SIMD units"
set ylabel "ratio to a copy" offset 1.5,0
array narrow[3] = [8, 16, 32]
array wide[4] = [128, 256, 512, 1024]
set key at screen 0.10, screen 0.225 left top Left reverse samplen 2
plot lines("own", 0) using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc rgb "black" title "ipt's own kernel", \
    for [i = 1:3] lines("local", narrow[i]) using 1:2 with linespoints pt 6 ps 0.4 lw 1.5 lc rgb word(colours, i) \
    title sprintf("%d work-items", narrow[i]), \
    for [i = 1:3] lines("registers", narrow[i]) using 1:2 with lines dt 2 lc rgb word(colours, i) \
    title i == 1 ? "the same with register tiling" : "", \
    40.0 / 208 with lines dt 3 lw 2 lc rgb "#666666" title "40 GB/s on a K20, of its peak bandwidth"
set lmargin at screen 0.57
set rmargin at screen 0.98
set title "work-groups"
unset ylabel
set key at screen 0.59, screen 0.225 left top Left reverse samplen 2
plot lines("own", 0) using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc rgb "black" notitle, \
    lines("local", 32) using 1:2 with filledcurves y=0 fs transparent solid 0.3 lc rgb "#999999" title "32 work-items", \
    for [i = 1:4] lines("local", wide[i]) using 1:2 with linespoints pt 6 ps 0.4 lw 1.5 lc rgb word(colours, i + 1) \
    title sprintf("a work-group of %d", wide[i]), \
    lines("registers", 256) using 1:2 with lines dt 2 lc rgb word(colours, 3) title "256 with register tiling"
unset multiplot
