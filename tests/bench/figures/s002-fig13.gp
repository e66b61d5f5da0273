# Gomez-Luna et al. 2016, Fig. 13: random matrices, with padding by algorithm 5, against Catanzaro et al. and the
# paper's own code.
heading = "Random matrices: padding, the paper's code and Catanzaro et al. (Fig. 13)"
series = "libmarshal_fix catanzaro algorithm-5 auto"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [22.54 / 208, 0]
reference_title = "the paper's median on a K20 (8 bytes), of its peak bandwidth"
load system("dirname '".ARG0."'")."/s002-histogram.gp"
