# Histograms of the matrices' speeds, one above the other. A figure sets series (names in the CSV, in drawing order), panels,
# reference_title, and one array element a panel of panel_title, elem_size, class ("" for all) and reference (the paper's
# median as a fraction of its device's peak, 0: none).
names = "auto algorithm-2 algorithm-5 tpds-2016 tpds-2016-padded catanzaro libmarshal_fix eithot geam_copyback"
titles = "'ipt' 'ipt: algorithm 2 and 3' 'ipt: padding, algorithm 5' \"the paper's method, here\" \
    \"the paper's method with padding, here\" 'Catanzaro et al., on an H200' \
    'libmarshal, on an H200' 'EITHOT, on an H200' 'cuBLAS geam and a copy back, on an H200'"
colours = "#1b6ca8 #e08214 #5aae61 #000000 #000000 #b2182b #762a83 #878787 #bf812d"
place(name) = sum [k = 1:words(names)] (word(names, k) eq name ? k : 0)
present = system("awk -F, 'NR > 1 { print $5 }' ".csv." | sort -u")
has(name) = sum [k = 1:words(present)] (word(present, k) eq name ? 1 : 0)
drawn = ""
do for [i = 1:words(series)] { if (has(word(series, i))) { drawn = drawn.word(series, i)." " } }
legend = words(drawn) + 1
height = 130 + panels * 250 + legend * 20
load here."/common.gp"

# The matrices of a series in a panel: their awk condition, number and median.
in(p, name) = sprintf("$3 == %d && (\"%s\" == \"\" || $4 == \"%s\") && $5 == \"%s\"", elem_size[p], class[p], class[p], name)
select(p, name) = sprintf("awk -F, 'NR > 1 && %s { print $9 }' %s", in(p, name), csv)
median_of(p, name) = real(system(select(p, name)." | sort -g | awk '{ v[NR] = $1 } END { print NR ? (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 : -1 }'"))

stats csv using (column("ratio")) nooutput name "all"
highest = all_max * 1.02 > 0.45 ? all_max * 1.02 : 0.45
bin = highest / 50
low(x) = bin * floor(x / bin) + bin / 2
set boxwidth bin
set style fill transparent solid 0.55 noborder
set xrange [0:highest]
set ytics font ",12"
unset key
set multiplot
do for [p = 1:panels] {
    set tmargin at screen top(p)
    set bmargin at screen bottom(p)
    set label 1 n_of(count_if(in(p, "auto")), panel_title[p])." matrices\n% of the matrices" @above
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
    if (count_if(in(p, "auto"))) { set yrange [0:*] } else { set yrange [0:1] }
    if (p == panels) {
        set xlabel "ratio to a copy on the same device (dashed: medians)"
        set key
    }
    plot for [i = 1:words(drawn)] "<".select(p, word(drawn, i))."; echo none" using ($0 < count_if(in(p, word(drawn, i))) ? low($1) : 0): \
        ($0 < count_if(in(p, word(drawn, i))) ? 100.0 / count_if(in(p, word(drawn, i))) : 0) smooth frequency with boxes \
        lc rgb word(colours, place(word(drawn, i))) title word(titles, place(word(drawn, i))), \
        keyentry with lines dt 3 lw 2 lc rgb "black" title reference_title
    unset label 9
}
unset multiplot
