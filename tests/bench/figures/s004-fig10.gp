# Operations a second over the side of the matrices.
actions = "gemm gemm"
types = "double float"
names = "doubles floats"
column = 12
unit = "GFLOP/s"
side = "side of the matrices (elements)"
load here."/s004-shared.gp"
