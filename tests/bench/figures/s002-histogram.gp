# Histograms of speeds over matrices, one above the other. Set before: csv, svg, heading; series (names in the CSV, in
# the order in which they are drawn); panels, and for each of them panel_title, elem_size, class ("" for all) and
# reference (the paper's median as a fraction of its device's peak, 0: none), as arrays; reference_title.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
names = "auto algorithm-2 algorithm-5 catanzaro libmarshal_fix eithot geam_copyback"
titles = "'ipt' 'ipt: algorithm 2 and 3' 'ipt: padding, algorithm 5' 'Catanzaro et al., on an H200' \
    'libmarshal, on an H200' 'EITHOT, on an H200' 'cuBLAS geam and a copy back, on an H200'"
colours = "#1b6ca8 #e08214 #5aae61 #b2182b #762a83 #878787 #bf812d"
place(name) = sum [k = 1:words(names)] (word(names, k) eq name ? k : 0)
present = system("awk -F, 'NR > 1 { print $5 }' ".csv." | sort -u")
has(name) = sum [k = 1:words(present)] (word(present, k) eq name ? 1 : 0)
drawn = ""
do for [i = 1:words(series)] { if (has(word(series, i))) { drawn = drawn.word(series, i)." " } }

# The shell's view of one series in one panel: how many it has, and their median.
select(p, name) = sprintf("awk -F, 'NR > 1 && $3 == %d && (\"%s\" == \"\" || $4 == \"%s\") && $5 == \"%s\" { print $9 }' %s", \
    elem_size[p], class[p], class[p], name, csv)
count_of(p, name) = int(system(select(p, name)." | wc -l"))
median_of(p, name) = real(system(select(p, name)." | sort -g | awk '{ v[NR] = $1 } END { print NR ? (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 : -1 }'"))

stats csv using (column("ratio")) nooutput name "all"
highest = all_max * 1.02 > 0.45 ? all_max * 1.02 : 0.45
bin = highest / 50
low(x) = bin * floor(x / bin) + bin / 2
set boxwidth bin
set style fill transparent solid 0.55 noborder
set xrange [0:highest]
set yrange [0:*]
set offsets 0, 0, 0, 0
set tics out nomirror
set grid ytics lc rgb "#dddddd"
set border 3
set ylabel "% of matrices" font "sans,11"
# The legend, in two columns below: gnuplot's own loses entries that are wider than it thinks.
unset key
legend_x(i) = 0.06 + 0.42 * ((i - 1) / 3)
legend_y(i) = 0.085 - 0.032 * ((i - 1) % 3)
do for [i = 1:words(drawn)] {
    set object i rectangle at screen legend_x(i), screen legend_y(i) size screen 0.025, screen 0.02 \
        fc rgb word(colours, place(word(drawn, i))) fs solid 0.6 noborder
    set label 100 + i word(titles, place(word(drawn, i))) at screen legend_x(i) + 0.02, screen legend_y(i)
}
i = words(drawn) + 1
set arrow 91 from screen legend_x(i) - 0.0125, screen legend_y(i) rto screen 0.025, screen 0 nohead dt 3 lw 2 lc rgb "black"
set label 100 + i reference_title at screen legend_x(i) + 0.02, screen legend_y(i)
set multiplot title heading font "sans,15"
top = 0.93
bottom = 0.24
step = (top - bottom) / panels
do for [p = 1:panels] {
    set tmargin at screen top - (p - 1) * step - 0.05
    set bmargin at screen top - p * step + 0.015
    set lmargin at screen 0.09
    set rmargin at screen 0.97
    set label 1 panel_title[p] at graph 0.5, graph 1.09 center
    do for [i = 1:words(drawn)] {
        m = median_of(p, word(drawn, i))
        set arrow i from screen -1, screen -1 to screen -1, screen -1 nohead
        if (m >= 0) {
            set arrow i from first m, graph 0 to first m, graph 1 nohead dt 2 lw 2 lc rgb word(colours, place(word(drawn, i))) front
        }
    }
    unset arrow 90
    if (reference[p] > 0) {
        set arrow 90 from first reference[p], graph 0 to first reference[p], graph 1 nohead dt 3 lw 2 lc rgb "black" front
    }
    if (p == panels) {
        set xlabel "speed, as a ratio to a copy on the same device (dashed lines: medians)"
        set format x "%g"
    } else {
        unset xlabel
        set format x ""
    }
    plot for [i = 1:words(drawn)] "<".select(p, word(drawn, i)) using (low($1)): \
        (100.0 / (count_of(p, word(drawn, i)) + 1e-9)) smooth frequency with boxes \
        lc rgb word(colours, place(word(drawn, i))) notitle
    unset object # the legend is there
    do for [i = 1:words(drawn) + 1] { unset label 100 + i }
    unset arrow 91
}
unset multiplot
