# Skinny matrices: arrays of structures to structures of arrays and back.
series = "libmarshal_fix catanzaro tpds-2016-padded algorithm-5 auto"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [50.0 / 224, 50.0 / 224]
reference_title = "paper, GTX 980: \"more than 50 GB/s\" over peak"
load here."/s002-histogram.gp"
