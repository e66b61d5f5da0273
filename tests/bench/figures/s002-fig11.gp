# Gomez-Luna et al. 2016, Fig. 11: one point for each matrix; above the diagonal ours is faster.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
array class[3] = ["", "large", "small"]
array panel_title[3] = ["all matrices", "tiles above 4 and 6 that fit", "the others"]
peers = int(system("awk -F, '$7 == \"catanzaro\"' ".csv." | wc -l"))
select(p, name, wanted) = sprintf("< awk -F, 'NR > 1 && (\"%s\" == \"\" || $3 == \"%s\") && $4 == \"%s\" && ($7 == \"catanzaro\") == %d { print $8 \",\" $5 }' %s", \
    class[p], class[p], name, wanted, csv)
any(p, name) = int(system(substr(select(p, name, peers > 0), 3, -1)." | wc -l"))
stats csv using (column("other_gb_per_s")):(column("gb_per_s")) nooutput name "all"
lowest = 0.7 * (all_min_x < all_min_y ? all_min_x : all_min_y)
highest = 1.5 * (all_max_x > all_max_y ? all_max_x : all_max_y)
set logscale xy
set xrange [lowest:highest]
set yrange [lowest:highest]
set grid lc rgb "#dddddd"
set tics out nomirror
set border 3
set multiplot title "Random matrices of 4 bytes, one point each (Fig. 11)" font "sans,15"
do for [p = 1:3] {
    set lmargin at screen 0.08 + (p - 1) * 0.315
    set rmargin at screen 0.35 + (p - 1) * 0.315
    set tmargin at screen 0.86
    set bmargin at screen 0.28
    set title panel_title[p]
    set ylabel (p == 1 ? "ours, GB/s" : "")
    set xlabel (peers ? "Catanzaro et al. on an H200, GB/s" : "ipt with algorithm 2, GB/s")
    if (p == 3) { set key at screen 0.66, screen 0.135 right top samplen 1.5 } else { unset key }
    plot x with lines dt 2 lc rgb "black" title "as fast", \
        (any(p, "algorithm-2") ? select(p, "algorithm-2", peers > 0) : "< echo 1e-9,1e-9") using 1:2 with points pt 6 ps 0.6 \
        lc rgb "#e08214" title (peers ? "ipt: algorithms 2 and 3" : ""), \
        (any(p, "auto") ? select(p, "auto", peers > 0) : "< echo 1e-9,1e-9") using 1:2 with points pt 7 ps 0.6 lc rgb "#1b6ca8" title "ipt"
}
unset multiplot
