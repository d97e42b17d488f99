// Cholesky, LU, QR and LDL by cuSOLVER.

#include <aten/native/cuda/solver/Call.h>
#include <aten/native/cuda/solver/Solvers.h>

#include <algorithm>

namespace torch_cuda_solver {

const char* cholesky(const TorchCudaSolverCall* given, TorchCudaStack a, void** places, int upper, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const int64_t n = a.rows;
    if (call.batches() > 1) {
      return check(Element<T>::potrfBatched(call.handle, fill, narrow(n), reinterpret_cast<T**>(places), leading(n),
                                            info, narrow(call.batches())));
    }
    constexpr auto kType = Element<T>::kType;
    Workspace work(call, [&](size_t* device, size_t* host) {
      return cusolverDnXpotrf_bufferSize(call.handle, call.parameters, fill, n, kType, a.data, leading(n), kType,
                                         device, host);
    });
    check(cusolverDnXpotrf(call.handle, call.parameters, fill, n, kType, a.data, leading(n), kType, work.device,
                           work.device_bytes, work.host(), work.host_bytes(), info));
    work.finish();
  });
}

const char* lu(const TorchCudaSolverCall* given, TorchCudaStack a, int* pivots, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const int rows = narrow(a.rows), columns = narrow(a.columns);
    int size = 0;
    check(Element<T>::getrf_size(call.handle, rows, columns, matrix<T>(a, 0), leading(rows), &size));
    T* work = call.allocate<T>(size);
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(Element<T>::getrf(call.handle, rows, columns, matrix<T>(a, i), leading(rows), work,
                              pivots + i * std::min(rows, columns), info + i));
    }
  });
}

const char* qr(const TorchCudaSolverCall* given, TorchCudaStack a, void* tau) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    constexpr auto kType = Element<T>::kType;
    const int64_t rank = a.rows < a.columns ? a.rows : a.columns;
    int* info = call.allocate<int>(1);
    Workspace work(call, [&](size_t* device, size_t* host) {
      return cusolverDnXgeqrf_bufferSize(call.handle, call.parameters, a.rows, a.columns, kType, a.data,
                                         leading(a.rows), kType, tau, kType, device, host);
    });
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(cusolverDnXgeqrf(call.handle, call.parameters, a.rows, a.columns, kType, matrix<T>(a, i), leading(a.rows),
                             kType, static_cast<T*>(tau) + i * rank, kType, work.device, work.device_bytes, work.host(),
                             work.host_bytes(), info));
      work.finish();
    }
  });
}

const char* multiply_reflectors(const TorchCudaSolverCall* given, TorchCudaStack a, const void* tau,
                                int64_t reflections) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const int rows = narrow(a.rows), columns = narrow(a.columns), count = narrow(reflections);
    const auto* factors = static_cast<const T*>(tau);
    int size = 0;
    check(Element<T>::orgqr_size(call.handle, rows, columns, count, matrix<T>(a, 0), leading(a.rows), factors, &size));
    T* work = call.allocate<T>(size);
    int* info = call.allocate<int>(1);
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(Element<T>::orgqr(call.handle, rows, columns, count, matrix<T>(a, i), leading(a.rows),
                              factors + i * reflections, work, size, info));
    }
  });
}

const char* apply_reflectors(const TorchCudaSolverCall* given, TorchCudaStack reflectors, const void* tau,
                             int64_t reflections, TorchCudaStack c, int left, int adjoint) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const auto operation = adjoint ? Element<T>::kAdjoint : CUBLAS_OP_N;
    const int rows = narrow(c.rows), columns = narrow(c.columns), count = narrow(reflections);
    const auto* factors = static_cast<const T*>(tau);
    int size = 0;
    check(Element<T>::ormqr_size(call.handle, side, operation, rows, columns, count, matrix<T>(reflectors, 0),
                                 leading(reflectors.rows), factors, matrix<T>(c, 0), leading(c.rows), &size));
    T* work = call.allocate<T>(size);
    int* info = call.allocate<int>(1);
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(Element<T>::ormqr(call.handle, side, operation, rows, columns, count, matrix<T>(reflectors, i),
                              leading(reflectors.rows), factors + i * reflections, matrix<T>(c, i), leading(c.rows),
                              work, size, info));
    }
  });
}

const char* ldl(const TorchCudaSolverCall* given, TorchCudaStack a, int* pivots, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const int n = narrow(a.rows);
    int size = 0;
    check(Element<T>::sytrf_size(call.handle, n, matrix<T>(a, 0), leading(n), &size));
    T* work = call.allocate<T>(size);
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(Element<T>::sytrf(call.handle, CUBLAS_FILL_MODE_LOWER, n, matrix<T>(a, i), leading(n), pivots + i * n, work,
                              size, info + i));
    }
  });
}

const char* solve_ldl(const TorchCudaSolverCall* given, TorchCudaStack factors, const int64_t* pivots,
                      TorchCudaStack b) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    constexpr auto kType = Element<T>::kType;
    const int64_t n = factors.rows;
    int* info = call.allocate<int>(1);
    Workspace work(call, [&](size_t* device, size_t* host) {
      return cusolverDnXsytrs_bufferSize(call.handle, CUBLAS_FILL_MODE_LOWER, n, b.columns, kType, factors.data,
                                         leading(n), pivots, kType, b.data, leading(n), device, host);
    });
    for (int64_t i = 0; i < call.batches(); ++i) {
      check(cusolverDnXsytrs(call.handle, CUBLAS_FILL_MODE_LOWER, n, b.columns, kType, matrix<T>(factors, i),
                             leading(n), pivots + i * n, kType, matrix<T>(b, i), leading(n), work.device,
                             work.device_bytes, work.host(), work.host_bytes(), info));
      work.finish();
    }
  });
}

}  // namespace torch_cuda_solver
