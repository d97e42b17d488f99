"""Linear algebra: factorisations, systems of equations, eigenvalues and singular values, norms; on LAPACK."""

from torch import _C
from torch._notes import common_notes as common_notes

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

LinAlgError = _C._LinAlgError
cholesky = _C._linalg.linalg_cholesky
cholesky_ex = _C._linalg.linalg_cholesky_ex
cond = _C._linalg.linalg_cond
cross = _C._linalg.linalg_cross
det = _C._linalg.linalg_det
diagonal = _C._linalg.linalg_diagonal
eig = _C._linalg.linalg_eig
eigh = _C._linalg.linalg_eigh
eigvals = _C._linalg.linalg_eigvals
eigvalsh = _C._linalg.linalg_eigvalsh
householder_product = _C._linalg.linalg_householder_product
inv = _C._linalg.linalg_inv
inv_ex = _C._linalg.linalg_inv_ex
ldl_factor = _C._linalg.linalg_ldl_factor
ldl_factor_ex = _C._linalg.linalg_ldl_factor_ex
ldl_solve = _C._linalg.linalg_ldl_solve
lstsq = _C._linalg.linalg_lstsq
lu = _C._linalg.linalg_lu
lu_factor = _C._linalg.linalg_lu_factor
lu_factor_ex = _C._linalg.linalg_lu_factor_ex
lu_solve = _C._linalg.linalg_lu_solve
matmul = _C._linalg.linalg_matmul
matrix_exp = _C._linalg.linalg_matrix_exp
matrix_norm = _C._linalg.linalg_matrix_norm
matrix_power = _C._linalg.linalg_matrix_power
matrix_rank = _C._linalg.linalg_matrix_rank
multi_dot = _C._linalg.linalg_multi_dot
norm = _C._linalg.linalg_norm
pinv = _C._linalg.linalg_pinv
qr = _C._linalg.linalg_qr
slogdet = _C._linalg.linalg_slogdet
solve = _C._linalg.linalg_solve
solve_ex = _C._linalg.linalg_solve_ex
solve_triangular = _C._linalg.linalg_solve_triangular
svd = _C._linalg.linalg_svd
svdvals = _C._linalg.linalg_svdvals
tensorinv = _C._linalg.linalg_tensorinv
tensorsolve = _C._linalg.linalg_tensorsolve
vander = _C._linalg.linalg_vander
vecdot = _C._linalg.linalg_vecdot
vector_norm = _C._linalg.linalg_vector_norm
