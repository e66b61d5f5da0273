# The share of the copy's speed over the side of the matrices.
actions = "gemv gemv"
types = "double float"
names = "doubles floats"
column = 11
unit = "speed over that of the copy"
side = "side of the matrices (elements)"
load here."/s004-shared.gp"
