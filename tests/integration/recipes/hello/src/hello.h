#pragma once

// The dot product of (1, 2, ..., count) with itself, computed by BLAS; `threads` gets the size of an OpenMP team.
double hello_dot(int count, int* threads);
