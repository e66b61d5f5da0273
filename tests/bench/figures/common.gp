# The parts that all pictures share: canvas, heading, positions of panels and legend. A figure sets these variables before,
# unless the defaults suit it: height (pixels), panels (one above the other), legend (its lines). common.sh sets here, csv,
# svg, heading and device. The canvas is narrow, so that a telephone shows it legibly.
if (!exists("panels")) panels = 1
if (!exists("height")) height = 480
if (!exists("legend")) legend = 2
set terminal svg size 640, height font "sans,15" background "white"
set encoding utf8
set output svg
set datafile separator ","
heading = heading."; here: ".device
foot = legend * 20 + 16
top(p) = 1 - (54.0 + (p - 1) * (height - 54 - foot) / panels + 52) / height
bottom(p) = 1 - (54.0 + p * (height - 54 - foot) / panels - 56) / height
set tmargin at screen top(1)
set bmargin at screen bottom(1)
set lmargin at screen 0.115
set rmargin at screen 0.97
set label 9 heading at screen 0.5, 1 - 16.0 / height center noenhanced font ",14"
set tics out nomirror
set border 3
set xlabel offset 0, 0.7
set grid ytics lc rgb "#dddddd"
set key at screen 0.02, screen (foot - 4.0) / height left top Left reverse vertical maxrows legend samplen 1.5 font ",14"

# The number of lines of the table for which the awk condition holds.
count_if(condition) = int(system(sprintf("awk -F, 'NR > 1 && (%s)' '%s' | wc -l", condition, csv)))
# The text above a panel: its name, the number of its samples, and the unit of its vertical axis. Beside the axis this text
# would not fit.
n_of(count, what) = sprintf("%sn = %d", what eq "" ? "" : what.", ", count)
above = "at graph 0, graph 1 offset -6, 2 left noenhanced"
