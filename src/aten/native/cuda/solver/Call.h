#pragma once
// What all calls of cuSOLVER need.

#include <aten/native/cuda/solver/Solver.h>

#include <cusolverDn.h>

#include <climits>
#include <complex>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

// The first (its second update) with eigenvalues of matrices that are not Hermitian,
// and of many Hermitian ones at once.
#define TORCH_CUSOLVER_OF_CUDA_12_6 11701

namespace torch_cuda_solver {

// Within this library; its functions return the text.
struct Failure {
  const char* what;
};

inline void check(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_SUCCESS: return;
    case CUSOLVER_STATUS_NOT_INITIALIZED: throw Failure{"the library was not initialised"};
    case CUSOLVER_STATUS_ALLOC_FAILED: throw Failure{"no memory left for its own use"};
    case CUSOLVER_STATUS_INVALID_VALUE: throw Failure{"an invalid argument"};
    case CUSOLVER_STATUS_ARCH_MISMATCH: throw Failure{"the device is too old"};
    case CUSOLVER_STATUS_EXECUTION_FAILED: throw Failure{"the computation failed on the device"};
    case CUSOLVER_STATUS_NOT_SUPPORTED: throw Failure{"arguments that it does not support"};
    default: throw Failure{"an internal error"};
  }
}

inline int narrow(int64_t size) {
  if (size > INT_MAX) throw Failure{"a matrix dimension is larger than cuSOLVER's 32-bit interface takes"};
  return static_cast<int>(size);
}

inline int leading(int64_t rows) { return narrow(rows > 0 ? rows : 1); }

// One call: the handle on its stream, and memory to work in.
class Call {
 public:
  explicit Call(const TorchCudaSolverCall& call) : call_(call) {
    // One per thread and device: they must not be used by two threads at once. They are not destroyed, because the
    // driver may be gone when thread-local destructors run.
    thread_local auto* handles = new std::map<int, std::pair<cusolverDnHandle_t, cusolverDnParams_t>>();
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess) throw Failure{"cudaGetDevice failed"};
    auto& kept = (*handles)[device];
    if (kept.first == nullptr) check(cusolverDnCreate(&kept.first));
    if (kept.second == nullptr) check(cusolverDnCreateParams(&kept.second));
    handle = kept.first;
    parameters = kept.second;
    check(cusolverDnSetStream(handle, call.stream));
  }

  template <typename T>
  T* allocate(int64_t count) {
    return static_cast<T*>(call_.allocate(call_.context, sizeof(T) * static_cast<size_t>(count > 0 ? count : 1)));
  }

  int64_t batches() const { return call_.batches; }
  cudaStream_t stream() const { return call_.stream; }

  cusolverDnHandle_t handle;
  cusolverDnParams_t parameters;

 private:
  const TorchCudaSolverCall& call_;
};

// Memory of the routines of 64 bits, on the device and the host, for one matrix after the other.
class Workspace {
 public:
  // `ask(&device_bytes, &host_bytes)`
  template <typename Ask>
  Workspace(Call& call, const Ask& ask) : stream_(call.stream()) {
    size_t host_bytes = 0;
    check(ask(&device_bytes, &host_bytes));
    device = call.allocate<char>(static_cast<int64_t>(device_bytes));
    host_.resize(host_bytes);
  }

  void* host() { return host_.empty() ? nullptr : host_.data(); }
  size_t host_bytes() const { return host_.size(); }

  // After each use: nothing says when the routine is done with the host's part.
  void finish() {
    if (!host_.empty() && cudaStreamSynchronize(stream_) != cudaSuccess)
      throw Failure{"the computation failed on the device"};
  }

  void* device = nullptr;
  size_t device_bytes = 0;

 private:
  cudaStream_t stream_;
  std::vector<char> host_;
};

template <typename T>
struct Element;

template <typename T>
using Real = typename Element<T>::Real;

// body(T{}, call) with the element type of the call; null, or what went wrong.
template <typename Body>
const char* run(const TorchCudaSolverCall* given, const Body& body) {
  try {
    Call call(*given);
    if (given->is_complex) given->is_double ? body(cuDoubleComplex{}, call) : body(cuComplex{}, call);
    else given->is_double ? body(double{}, call) : body(float{}, call);
    return nullptr;
  } catch (const Failure& failure) {
    return failure.what;
  }
}

// Matrix `index` of a stack.
template <typename T>
T* matrix(const TorchCudaStack& stack, int64_t index) {
  return static_cast<T*>(stack.data) + index * stack.rows * stack.columns;
}

// The routines of one element type, and how the others are told of it.
#define TORCH_CUDA_SOLVER_ELEMENT(T, R, p, orthogonal, type, real_type, complex_type)          \
  template <>                                                                                  \
  struct Element<T> {                                                                          \
    using Real = R;                                                                            \
    static constexpr cudaDataType kType = type;                                                \
    static constexpr cudaDataType kRealType = real_type;                                       \
    static constexpr cudaDataType kComplexType = complex_type;                                 \
    static constexpr auto kAdjoint = type == real_type ? CUBLAS_OP_T : CUBLAS_OP_C;            \
    static constexpr auto potrfBatched = cusolverDn##p##potrfBatched;                          \
    static constexpr auto getrf = cusolverDn##p##getrf;                                        \
    static constexpr auto getrf_size = cusolverDn##p##getrf_bufferSize;                        \
    static constexpr auto orgqr = cusolverDn##p##orthogonal##gqr;                              \
    static constexpr auto orgqr_size = cusolverDn##p##orthogonal##gqr_bufferSize;              \
    static constexpr auto ormqr = cusolverDn##p##orthogonal##mqr;                              \
    static constexpr auto ormqr_size = cusolverDn##p##orthogonal##mqr_bufferSize;              \
    static constexpr auto sytrf = cusolverDn##p##sytrf;                                        \
    static constexpr auto sytrf_size = cusolverDn##p##sytrf_bufferSize;                        \
    static constexpr auto gesvdj = cusolverDn##p##gesvdj;                                      \
    static constexpr auto gesvdj_size = cusolverDn##p##gesvdj_bufferSize;                      \
    static constexpr auto gesvdjBatched = cusolverDn##p##gesvdjBatched;                        \
    static constexpr auto gesvdjBatched_size = cusolverDn##p##gesvdjBatched_bufferSize;        \
    static constexpr auto gesvda = cusolverDn##p##gesvdaStridedBatched;                        \
    static constexpr auto gesvda_size = cusolverDn##p##gesvdaStridedBatched_bufferSize;        \
  };
TORCH_CUDA_SOLVER_ELEMENT(float, float, S, or, CUDA_R_32F, CUDA_R_32F, CUDA_C_32F)
TORCH_CUDA_SOLVER_ELEMENT(double, double, D, or, CUDA_R_64F, CUDA_R_64F, CUDA_C_64F)
TORCH_CUDA_SOLVER_ELEMENT(cuComplex, float, C, un, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F)
TORCH_CUDA_SOLVER_ELEMENT(cuDoubleComplex, double, Z, un, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F)
#undef TORCH_CUDA_SOLVER_ELEMENT

}  // namespace torch_cuda_solver
