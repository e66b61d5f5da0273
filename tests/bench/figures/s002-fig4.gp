# Upper panel: virtual SIMD units. Lower panel: work-groups.
height = 1000
panels = 2
legend = 6
load here."/common.gp"
lines(tiling, items) = sprintf("< awk -F, '$2 == \"%s\" && $3 == %d { print $1 \",\" $8 }' %s; echo NaN,NaN", tiling, items, csv)
colours = "#1b6ca8 #e08214 #5aae61 #b2182b #762a83"
array narrow[3] = [8, 16, 32]
array wide[4] = [128, 256, 512, 1024]
set logscale x 2
set xrange [0.9:2800]
stats csv using (column("ratio")) nooutput name "all"
set yrange [0:1.05 * all_max > 0.25 ? 1.05 * all_max : 0.25]
set multiplot
set label 1 n_of(count_if("$3 <= 32"), "virtual SIMD units")." measurements\nratio to the copy" @above
set key at screen 0.02, screen (foot - 4.0) / height
plot lines("own", 0) using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc rgb "black" title "ipt's own kernel", \
    for [i = 1:3] lines("local", narrow[i]) using 1:2 with linespoints pt 6 ps 0.4 lw 1.5 lc rgb word(colours, i) \
    title sprintf("%d work-items", narrow[i]), \
    for [i = 1:3] lines("registers", narrow[i]) using 1:2 with lines dt 2 lc rgb word(colours, i) \
    title i == 1 ? "with register tiling" : "", \
    40.0 / 208 with lines dt 3 lw 2 lc rgb "#666666" title "paper: 40 GB/s on a K20, over peak"
unset label 9
set tmargin at screen top(2)
set bmargin at screen bottom(2)
set xlabel "super-element, words of 4 bytes"
set label 1 n_of(count_if('$2 == "own" || ($2 == "local" && $3 >= 32) || ($2 == "registers" && $3 == 256)'), "work-groups")." measurements\nratio to the copy" @above
set key at screen 0.55, screen (foot - 4.0) / height
plot lines("own", 0) using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc rgb "black" notitle, \
    lines("local", 32) using 1:2 with filledcurves y=0 fs transparent solid 0.3 lc rgb "#999999" title "32 work-items", \
    for [i = 1:4] lines("local", wide[i]) using 1:2 with linespoints pt 6 ps 0.4 lw 1.5 lc rgb word(colours, i + 1) \
    title sprintf("a work-group of %d", wide[i]), \
    lines("registers", 256) using 1:2 with lines dt 2 lc rgb word(colours, 3) title "256 with register tiling"
unset multiplot
