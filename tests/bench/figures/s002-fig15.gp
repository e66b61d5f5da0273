# Gomez-Luna et al. 2016, Fig. 15: skinny matrices, arrays of structures and structures of arrays into each other.
heading = "Skinny matrices, one side from 2 to 32 (Fig. 15)"
series = "libmarshal_fix catanzaro algorithm-5 auto"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [50.0 / 224, 50.0 / 224]
reference_title = "the paper's \"more than 50 GB/s\" on a GTX 980, of its peak bandwidth"
load system("dirname '".ARG0."'")."/s002-histogram.gp"
