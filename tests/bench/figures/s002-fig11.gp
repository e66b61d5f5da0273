# One point for each matrix. Above the diagonal ipt is faster.
height = 1200
panels = 3
load here."/common.gp"
array class[3] = ["", "large", "small"]
array panel_title[3] = ["all matrices", "tiles above 4 and 6 that fit", "the others"]
peers = count_if('$7 == "catanzaro"')
from(p) = sprintf("(\"%s\" == \"\" || $3 == \"%s\") && ($7 == \"catanzaro\") == %d", class[p], class[p], peers > 0)
select(p, name) = sprintf("< awk -F, '%s && $4 == \"%s\" { print $8 \",\" $5 }' %s; echo NaN,NaN", from(p), name, csv)
stats csv using (column("other_gb_per_s")):(column("gb_per_s")) nooutput name "all"
lowest = 0.7 * (all_min_x < all_min_y ? all_min_x : all_min_y)
highest = 1.5 * (all_max_x > all_max_y ? all_max_x : all_max_y)
set logscale xy
set xrange [lowest:highest]
set yrange [lowest:highest]
set grid xtics
unset key
set multiplot
do for [p = 1:panels] {
    set tmargin at screen top(p)
    set bmargin at screen bottom(p)
    set label 1 n_of(count_if(from(p)." && $4 == \"auto\""), panel_title[p])." matrices\nipt, GB/s" @above
    if (p == panels) {
        set xlabel (peers ? "Catanzaro et al. on an H200, GB/s" : "ipt with algorithm 2, GB/s")
        set key
    }
    plot x with lines dt 2 lc rgb "black" title "as fast", \
        select(p, "algorithm-2") using 1:2 with points pt 6 ps 0.6 lc rgb "#e08214" title (peers ? "ipt: algorithms 2 and 3" : ""), \
        select(p, "tpds-2016") using 1:2 with points pt 2 ps 0.6 lc rgb "#000000" title "the paper's method, here", \
        select(p, "auto") using 1:2 with points pt 7 ps 0.6 lc rgb "#1b6ca8" title "ipt"
    unset label 9
}
unset multiplot
