# Gomez-Luna et al. 2016, Fig. 16: random matrices on the paper's third device, for which it knew nothing to compare with.
heading = "Random matrices: ipt, and padding by algorithm 5 (Fig. 16)"
series = "algorithm-5 auto"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [37.40 / 320, 0]
reference_title = "the paper's median on a Hawaii (8 bytes), of its peak bandwidth"
load system("dirname '".ARG0."'")."/s002-histogram.gp"
