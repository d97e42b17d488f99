#pragma once
// The functions of TorchCudaSolvers.

#include <aten/native/cuda/solver/Solver.h>

namespace torch_cuda_solver {

// factorizations.cpp
const char* cholesky(const TorchCudaSolverCall*, TorchCudaStack a, void** places, int upper, int* info);
const char* lu(const TorchCudaSolverCall*, TorchCudaStack a, int* pivots, int* info);
const char* qr(const TorchCudaSolverCall*, TorchCudaStack a, void* tau);
const char* multiply_reflectors(const TorchCudaSolverCall*, TorchCudaStack a, const void* tau, int64_t reflections);
const char* apply_reflectors(const TorchCudaSolverCall*, TorchCudaStack reflectors, const void* tau,
                             int64_t reflections, TorchCudaStack c, int left, int adjoint);
const char* ldl(const TorchCudaSolverCall*, TorchCudaStack a, int* pivots, int* info);
const char* solve_ldl(const TorchCudaSolverCall*, TorchCudaStack factors, const int64_t* pivots, TorchCudaStack b);

// spectral.cpp
const char* eigh(const TorchCudaSolverCall*, TorchCudaStack a, void* values, int upper, int with_vectors, int* info);
const char* eig(const TorchCudaSolverCall*, TorchCudaStack a, void* values, void* vectors, int* info);
const char* svd(const TorchCudaSolverCall*, TorchCudaStack a, void* values, TorchCudaStack u, TorchCudaStack v,
                int with_vectors, TorchCudaSVDMethod method, int* info);

}  // namespace torch_cuda_solver
