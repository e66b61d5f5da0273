# Products over the size of the matrices.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
copy = real(system(sprintf("awk -F, 'NR > 1 { s += $8; ++n } END { print s / n }' '%s'", csv)))
of(model) = sprintf("< awk -F, '$1 == \"%s\"' '%s' | sort -t, -n -k2", model, csv)
set title sprintf("Batched products y = A x of floats (the copy: %.0f GB/s on average)", copy)
set xlabel "side of the matrices (elements)"
set ylabel "speed / speed of the copy"
set logscale x 2
set logscale y 10
set xrange [1.8:142]
set yrange [*:1.4] noextend
set grid xtics ytics linecolor "#dddddd"
set key outside right center Left reverse spacing 1.3 samplen 2
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
         linecolor "#0072b2" title "that and work-item, SoA"
