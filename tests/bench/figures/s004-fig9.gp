# Products over the size of the matrices.
height = 560
legend = 4
load here."/common.gp"
of(model) = sprintf("< awk -F, '$1 == \"%s\"' '%s' | sort -t, -n -k2", model, csv)
set label 1 n_of(count_if("1"), "floats")." measurements\nspeed over that of the copy" @above
set xlabel "side of the matrices (elements)"
set logscale x 2
set logscale y 10
set xrange [1.8:142]
set grid xtics
plot of("item-aos") using 2:9 with linespoints linewidth 2 pointtype 7 pointsize 0.5 linecolor "#d55e00" \
         title "work-item, AoS", \
     of("item-soa") using 2:9 with linespoints linewidth 2 pointtype 7 pointsize 0.5 linecolor "#0072b2" \
         title "work-item, SoA", \
     of("interleaved") using 2:9 with linespoints linewidth 2 pointtype 5 pointsize 0.5 linecolor "#56b4e9" \
         title "interleaved groups, SoA", \
     of("contiguous") using 2:9 with linespoints linewidth 2 pointtype 5 pointsize 0.5 linecolor "#009e73" \
         title "contiguous groups, AoS", \
     of("group") using 2:9 with linespoints linewidth 2 pointtype 9 pointsize 0.6 linecolor "#cc79a7" \
         title "work-group, AoS", \
     of("adapter") using 2:9 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.5 linecolor "#555555" \
         title "AoS to SoA alone, by ipt", \
     of("item-soa-adapted") using 2:9 with linespoints linewidth 1.5 dashtype 2 pointtype 4 pointsize 0.5 \
         linecolor "#0072b2" title "AoS to SoA, then work-item"
