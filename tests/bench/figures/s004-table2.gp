# Speed of a copy over the shape of the work-group, ours beside the seed's.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
$paper << END
1 x 128,0.7,0.69
2 x 64,0.37,0.36
4 x 32,0.22,0.21
8 x 16,0.13,0.20
16 x 8,0.11,0.20
32 x 4,0.11,0.20
END
of(element) = sprintf("< awk -F, '$1 == \"%s\"' '%s'", element, csv)
set style fill solid 0.9 noborder
set grid ytics linecolor "#dddddd"
set xtics nomirror scale 0 font ",12"
set boxwidth 0.38
set yrange [0:*]
set multiplot title "Copying 256 matrices of 128 x 128: the shape of the work-group"
set key above Left reverse samplen 1
set xlabel "work-items along a row x rows"
set size 0.5, 0.93
set origin 0, 0
set ylabel "speed / speed of the device's own copy"
plot of("float") using ($0 - 0.2):7:xtic(sprintf("%s x %s", strcol(2), strcol(3))) with boxes linecolor "#0072b2" \
         title "float", \
     of("double") using ($0 + 0.2):7 with boxes linecolor "#e69f00" title "double"
set origin 0.5, 0
set yrange [0:1.1]
set ylabel "speed / speed of its fastest"
plot $paper using ($0 - 0.2):(0.11 / $2):xtic(1) with boxes linecolor "#7fb8d8" title "paper, float", \
     $paper using ($0 + 0.2):(0.20 / $3) with boxes linecolor "#f2cf80" title "paper, double"
unset multiplot
