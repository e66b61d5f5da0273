# Sung et al. 2014, table 2: three stages, four, and four with the middle two fused, each with its best tiles.
. "$(dirname "$0")/common.sh"
. "$here/s000-shared.sh"

measure() {
    if [ "$quick" = 1 ]; then
        stages "16" 360x90 90x360 | measure_lines $repeat
    else
        {
            stages "16 32 50 72 100" 7200x1800 5100x2500 4000x3200 3300x3900 2500x5100 1800x7200
# The best tiles of section 7.3. For four stages, the section has (20, 16), but 16 does not divide 1800.
            echo "7200x1800 7200 1800 4.1 16 20 auto auto 0"
            echo "7200x1800 7200 1800 4.2 16 20 auto auto 0"
            echo "7200x1800 7200 1800 4.3 16 20 auto auto 0"
        } | measure_lines $repeat
    fi
}

headlines() {
    first=$(awk -F, 'NR == 2 { print $1 }' "$csv")
    stage_headline "$first" "$first"
    paper 20.59 "table 2, 7200x1800 by 3 stages; 4 stages 7.11, fused 7.67"
}

figure
