# Draws gen/doc/speed.csv: speed relative to a copy over extra memory. `make doc-plot` runs it in the repository's root.
set terminal svg size 760,360 font "Helvetica,Arial,sans-serif,13" background "white"
set output "build/plot.svg"
set datafile separator comma
csv = "gen/doc/speed.csv"
set title "In-place transposition on an NVIDIA H200: random matrices, 1000 or more rows and columns" font ",14"
set xlabel "device memory beside the matrix (log scale)"
set ylabel "speed, as a share of a copy's"
set logscale x
set xrange [0.02:600]
set yrange [0:0.75]
set xtics ("0.1 %%" 0.1, "1 %%" 1, "10 %%" 10, "100 %%" 100) out nomirror
set ytics 0.1 out nomirror format "%.1f"
set grid ytics lc rgb "#e4e4e4" lt 1
set border 3 lc rgb "#666666"
set key at graph 0.99, 0.42 Left reverse samplen 1 spacing 1.2 textcolor rgb "#444444"
set arrow from 0.02, 0.5 to 600, 0.5 nohead dt 2 lc rgb "#888888"
set label "limit of two passes over the matrix" at 0.024, 0.528 left textcolor rgb "#666666" font ",12"
set arrow from 0.02, 0.6667 to 600, 0.6667 nohead dt 2 lc rgb "#888888"
set label "limit of one and a half passes" at 0.024, 0.695 left textcolor rgb "#666666" font ",12"
colour(name) = name eq "ipt" ? 0x1b6ca8 : 0x8a4b08
# Below a limit's line, a label goes below its point.
label_at(share) = share > 0.43 && share < 0.5 ? share - 0.065 : share + 0.045
is(elements, kind, share) = elements eq kind ? share : NaN
plot csv using 3:(is(stringcolumn(2), "floats", $4)):(colour(stringcolumn(1))) with points pt 7 ps 1.3 lc rgb variable notitle, \
    csv using 3:(is(stringcolumn(2), "doubles", $4)):(colour(stringcolumn(1))) with points pt 6 ps 1.3 lw 2 lc rgb variable notitle, \
    csv using 3:(is(stringcolumn(2), "doubles", label_at($4))):1 with labels textcolor rgb "#222222" notitle, \
    NaN with points pt 7 ps 1.3 lc rgb "#666666" title "floats", \
    NaN with points pt 6 ps 1.3 lw 2 lc rgb "#666666" title "doubles"
