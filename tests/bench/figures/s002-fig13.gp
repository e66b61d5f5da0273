# Random matrices, with padding by algorithm 5, against Catanzaro et al. and the paper's own code.
series = "libmarshal_fix catanzaro tpds-2016-padded algorithm-5 auto"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [22.54 / 208, 0]
reference_title = "paper, K20, 8 bytes: median over peak"
load here."/s002-histogram.gp"
