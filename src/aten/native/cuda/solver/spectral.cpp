// Eigenvalues and singular values by cuSOLVER.

#include <aten/native/cuda/solver/Call.h>
#include <aten/native/cuda/solver/Solvers.h>

namespace torch_cuda_solver {

namespace {

cusolverEigMode_t mode(bool with_vectors) {
  return with_vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
}

// What one stack's singular values are found of and written to.
template <typename T>
struct Decomposition {
  TorchCudaStack a, u, v;
  Real<T>* values;
  bool with_vectors;
  int* info;

  int rows() const { return narrow(a.rows); }
  int columns() const { return narrow(a.columns); }
};

template <typename T>
void decompose_by_jacobi(Call& call, const Decomposition<T>& d) {
  // Default settings are kept: the machine's precision, 100 sweeps.
  thread_local auto* settings = [] {
    gesvdjInfo_t made = nullptr;
    check(cusolverDnCreateGesvdjInfo(&made));
    return made;
  }();
  const bool full = d.u.columns == d.u.rows;
  // All matrices in one launch, which is for small ones, and always makes all of U.
  constexpr int64_t kLargestInBatches = 32;
  if (call.batches() > 1 && full && d.a.rows <= kLargestInBatches) {
    int size = 0;
    check(Element<T>::gesvdjBatched_size(call.handle, mode(d.with_vectors), d.rows(), d.columns(), matrix<T>(d.a, 0),
                                         d.rows(), d.values, matrix<T>(d.u, 0), d.rows(), matrix<T>(d.v, 0),
                                         d.columns(), &size, settings, narrow(call.batches())));
    T* work = call.allocate<T>(size);
    return check(Element<T>::gesvdjBatched(call.handle, mode(d.with_vectors), d.rows(), d.columns(), matrix<T>(d.a, 0),
                                           d.rows(), d.values, matrix<T>(d.u, 0), d.rows(), matrix<T>(d.v, 0),
                                           d.columns(), work, size, d.info, settings, narrow(call.batches())));
  }
  int size = 0;
  check(Element<T>::gesvdj_size(call.handle, mode(d.with_vectors), !full, d.rows(), d.columns(), matrix<T>(d.a, 0),
                                d.rows(), d.values, matrix<T>(d.u, 0), d.rows(), matrix<T>(d.v, 0), d.columns(), &size,
                                settings));
  T* work = call.allocate<T>(size);
  for (int64_t i = 0; i < call.batches(); ++i) {
    check(Element<T>::gesvdj(call.handle, mode(d.with_vectors), !full, d.rows(), d.columns(), matrix<T>(d.a, i),
                             d.rows(), d.values + i * d.a.columns, matrix<T>(d.u, i), d.rows(), matrix<T>(d.v, i),
                             d.columns(), work, size, d.info + i, settings));
  }
}

template <typename T>
void decompose_by_qr(Call& call, const Decomposition<T>& d) {
  constexpr auto kType = Element<T>::kType;
  const signed char left = !d.with_vectors ? 'N' : d.u.columns == d.u.rows ? 'A' : 'S';
  const signed char right = d.with_vectors ? 'A' : 'N';
  Workspace work(call, [&](size_t* device, size_t* host) {
    return cusolverDnXgesvd_bufferSize(call.handle, call.parameters, left, right, d.a.rows, d.a.columns, kType,
                                       d.a.data, d.a.rows, Element<T>::kRealType, d.values, kType, d.u.data, d.u.rows,
                                       kType, d.v.data, d.v.rows, kType, device, host);
  });
  for (int64_t i = 0; i < call.batches(); ++i) {
    check(cusolverDnXgesvd(call.handle, call.parameters, left, right, d.a.rows, d.a.columns, kType, matrix<T>(d.a, i),
                           d.a.rows, Element<T>::kRealType, d.values + i * d.a.columns, kType, matrix<T>(d.u, i),
                           d.u.rows, kType, matrix<T>(d.v, i), d.v.rows, kType, work.device, work.device_bytes,
                           work.host(), work.host_bytes(), d.info + i));
    work.finish();
  }
}

template <typename T>
void decompose_approximately(Call& call, const Decomposition<T>& d) {
  const int64_t steps[] = {d.a.rows * d.a.columns, d.a.columns, d.u.rows * d.u.columns, d.v.rows * d.v.columns};
  int size = 0;
  check(Element<T>::gesvda_size(call.handle, mode(d.with_vectors), d.columns(), d.rows(), d.columns(),
                                matrix<T>(d.a, 0), d.rows(), steps[0], d.values, steps[1], matrix<T>(d.u, 0), d.rows(),
                                steps[2], matrix<T>(d.v, 0), d.columns(), steps[3], &size, narrow(call.batches())));
  T* work = call.allocate<T>(size);
  std::vector<double> residuals(call.batches());
  check(Element<T>::gesvda(call.handle, mode(d.with_vectors), d.columns(), d.rows(), d.columns(), matrix<T>(d.a, 0),
                           d.rows(), steps[0], d.values, steps[1], matrix<T>(d.u, 0), d.rows(), steps[2],
                           matrix<T>(d.v, 0), d.columns(), steps[3], work, size, d.info, residuals.data(),
                           narrow(call.batches())));
  // before they go
  if (cudaStreamSynchronize(call.stream()) != cudaSuccess) throw Failure{"the computation failed on the device"};
}

}  // namespace

const char* eigh(const TorchCudaSolverCall* given, TorchCudaStack a, void* values, int upper, int with_vectors,
                 int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    constexpr auto kType = Element<T>::kType;
    constexpr auto kRealType = Element<T>::kRealType;
    const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const int64_t n = a.rows;
#if CUSOLVER_VERSION >= TORCH_CUSOLVER_OF_CUDA_12_6
    if (call.batches() > 1) {
      Workspace work(call, [&](size_t* device, size_t* host) {
        return cusolverDnXsyevBatched_bufferSize(call.handle, call.parameters, mode(with_vectors), fill, n, kType,
                                                 a.data, n, kRealType, values, kType, device, host, call.batches());
      });
      check(cusolverDnXsyevBatched(call.handle, call.parameters, mode(with_vectors), fill, n, kType, a.data, n,
                                   kRealType, values, kType, work.device, work.device_bytes, work.host(),
                                   work.host_bytes(), info, call.batches()));
      return work.finish();
    }
#endif
    Workspace work(call, [&](size_t* device, size_t* host) {
      return cusolverDnXsyevd_bufferSize(call.handle, call.parameters, mode(with_vectors), fill, n, kType, a.data, n,
                                         kRealType, values, kType, device, host);
    });
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(cusolverDnXsyevd(call.handle, call.parameters, mode(with_vectors), fill, n, kType, matrix<T>(a, i), n,
                             kRealType, static_cast<Real<T>*>(values) + i * n, kType, work.device, work.device_bytes,
                             work.host(), work.host_bytes(), info + i));
      work.finish();
    }
  });
}

#if CUSOLVER_VERSION >= TORCH_CUSOLVER_OF_CUDA_12_6
const char* eig(const TorchCudaSolverCall* given, TorchCudaStack a, void* values, void* vectors, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    constexpr auto kType = Element<T>::kType;
    constexpr auto kComplexType = Element<T>::kComplexType;
    using Value = std::pair<Real<T>, Real<T>>;
    const int64_t n = a.rows;
    const auto none = mode(false);
    const auto right = mode(vectors != nullptr);
    const TorchCudaStack found{vectors, vectors ? n : 0, n};
    Workspace work(call, [&](size_t* device, size_t* host) {
      return cusolverDnXgeev_bufferSize(call.handle, call.parameters, none, right, n, kType, a.data, n, kComplexType,
                                        values, kType, nullptr, n, kType, vectors, n, kType, device, host);
    });
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(cusolverDnXgeev(call.handle, call.parameters, none, right, n, kType, matrix<T>(a, i), n, kComplexType,
                            static_cast<Value*>(values) + i * n, kType, nullptr, n, kType, matrix<T>(found, i), n,
                            kType, work.device, work.device_bytes, work.host(), work.host_bytes(), info + i));
      work.finish();
    }
  });
}

#endif

const char* svd(const TorchCudaSolverCall* given, TorchCudaStack a, void* values, TorchCudaStack u, TorchCudaStack v,
                int with_vectors, TorchCudaSVDMethod method, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const Decomposition<T> decomposition{a, u, v, static_cast<Real<T>*>(values), with_vectors != 0, info};
    switch (method) {
      case kTorchCudaJacobi: return decompose_by_jacobi<T>(call, decomposition);
      case kTorchCudaQRIterations: return decompose_by_qr<T>(call, decomposition);
      case kTorchCudaApproximate: return decompose_approximately<T>(call, decomposition);
      case kTorchCudaDivideAndConquer: throw Failure{"divide and conquer is MAGMA's"};
    }
  });
}

}  // namespace torch_cuda_solver

extern "C" __attribute__((visibility("default"))) const TorchCudaSolvers* torch_cuda_solvers() {
  using namespace torch_cuda_solver;
#if CUSOLVER_VERSION < TORCH_CUSOLVER_OF_CUDA_12_6
  constexpr decltype(TorchCudaSolvers::eig) eig = nullptr;
#endif
  static const TorchCudaSolvers solvers{cholesky, lu,  qr, multiply_reflectors, apply_reflectors, ldl, solve_ldl,
                                        eigh,     eig, svd};
  return &solvers;
}
