// Filling, ranges, copies between types and devices, triangles.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Loops.cuh>
#include <aten/native/cuda/transposed_copy.h>
#include <c10/cuda/CUDAPinnedMemory.h>

#include <cstring>

namespace at::native::cuda {

namespace {

template <typename Word>
struct fill_functor {
  Word value;
  __device__ Word operator()() const { return value; }
};

template <typename W>
struct masked_fill_functor {
  W value;
  __device__ void operator()(W& out, bool mask) const {
    if (mask) out = value;
  }
};

template <typename W>
struct move_functor {
  using Word = W;
  __device__ W operator()(W x) const { return x; }
};

// Between floating types of 32 and 16 bits, which the loop converts by itself.
struct round_functor {
  __device__ float operator()(float x) const { return x; }
};

template <typename To, typename From>
__device__ To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (c10::is_complex_v<To> && c10::is_complex_v<From>) return To(x);
  else if constexpr (c10::is_complex_v<To>) return To(static_cast<typename To::value_type>(x), 0);
  else if constexpr (c10::is_complex_v<From>) return convert<To>(x.real());
  // Through a wider signed type: a negative float to uint8 wraps as on the CPU.
  else if constexpr (std::is_integral_v<To> && sizeof(To) < sizeof(int) && c10::is_floating_v<From>)
    return static_cast<To>(static_cast<int64_t>(static_cast<double>(x)));
  else if constexpr (c10::is_floating_v<To> && sizeof(To) < sizeof(float)) return To(static_cast<float>(x));
  else return static_cast<To>(x);
}

// All threads go the same way through the switch: it costs less than a kernel for each pair of types would.
template <typename To>
__device__ To convert_from(const char* data, c10::ScalarType from) {
  switch (from) {
#define CASE(cpp_type, name, ...) \
  case c10::ScalarType::name: return convert<To>(*reinterpret_cast<const cpp_type*>(data));
    C10_FORALL_SCALAR_TYPES(CASE)
#undef CASE
    default: return To(0);
  }
}

template <typename To>
__global__ void __launch_bounds__(kThreads)
    convert_loop(uint32_t n, c10::ScalarType from, char* out, const char* in, Offsets<2> where) {
  for (uint32_t index = blockIdx.x * blockDim.x + threadIdx.x; index < n; index += blockDim.x * gridDim.x) {
    uint32_t offsets[2];
    where.get(index, offsets);
    *reinterpret_cast<To*>(out + offsets[0]) = convert_from<To>(in + offsets[1], from);
  }
}

// The bits of a number as an element of `dtype`.
template <typename Word>
Word word_of(const Scalar& value, c10::ScalarType dtype) {
  Word word{};
  dispatch_stored_types(dtype, "fill_", [&](auto tag) {
    const auto element = value.to<typename decltype(tag)::type>();
    std::memcpy(static_cast<void*>(&word), &element, std::min(sizeof word, sizeof element));
  });
  return word;
}

// The iteration is over one new, contiguous tensor, so the loop's index is the element's number.
template <typename T>
void write_range(TensorIterator& iter, T start, T step) {
  T* out = reinterpret_cast<T*>(iter.data(0));
  for_each_index(iter.numel(), [=] __device__(int64_t index) { out[index] = start + step * static_cast<T>(index); });
}

template <typename T>
void write_linspace(TensorIterator& iter, double start, double end, int64_t steps) {
  T* out = reinterpret_cast<T*>(iter.data(0));
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0.0;
  // From both ends towards the middle, so that the last element is exactly `end`.
  for_each_index(iter.numel(), [=] __device__(int64_t index) {
    out[index] =
        static_cast<T>(index < steps / 2 || steps == 1 ? start + step * index : end - step * (steps - 1 - index));
  });
}

template <typename Word>
void copy_triangle(const Tensor& out, const Tensor& self, int64_t diagonal, bool upper) {
  const int64_t rows = self.sizes()[self.dim() - 2];
  const int64_t columns = self.sizes()[self.dim() - 1];
  const Word* in = static_cast<const Word*>(self.data_ptr());
  Word* result = static_cast<Word*>(out.data_ptr());
  for_each_index(self.numel(), [=] __device__(int64_t index) {
    const int64_t column = index % columns;
    const int64_t row = index / columns % rows;
    const bool keep = upper ? column - row >= diagonal : column - row <= diagonal;
    result[index] = keep ? in[index] : Word{};
  });
}

// The iterator may be of another operator, whose result is copied: what counts is what memory has.
void copy_on_device(const TensorIterator& iter) {
  const c10::ScalarType to = dtype_in_memory(iter, 0);
  const c10::ScalarType from = dtype_in_memory(iter, 1);
  if (to == from && iter.is_contiguous()) {
    C10_CUDA_CHECK(cudaMemcpyAsync(iter.data(0), iter.data(1), static_cast<size_t>(iter.numel() * iter.element_size(0)),
                                   cudaMemcpyDeviceToDevice, c10::cuda::current_stream()));
    return;
  }
  if (to == from) {
    if (copy_transposed(iter)) return;
    return dispatch_word(c10::element_size(to), [&](auto word) { gpu_kernel(iter, move_functor<decltype(word)>()); });
  }
  const auto is_float_or_half = [](c10::ScalarType dtype) { return c10::computing_type(dtype) == kFloat; };
  if (is_float_or_half(to) && is_float_or_half(from)) return gpu_kernel(iter, round_functor());
  iter.with_32bit_indexing([&](const TensorIterator& part) {
    dispatch_stored_types(to, "copy_", [&](auto tag) {
      launch(convert_loop<typename decltype(tag)::type>, grid_for(part.numel()), kThreads,
             static_cast<uint32_t>(part.numel()), from, part.data(0), part.data(1), Offsets<2>(part));
    });
  });
}

}  // namespace

void fill_kernel(TensorIterator& iter, const Scalar& value) {
  dispatch_word(c10::element_size(iter.dtype(0)), [&](auto word) {
    gpu_kernel(iter, fill_functor<decltype(word)>{word_of<decltype(word)>(value, iter.dtype(0))});
  });
}

void masked_fill_kernel(TensorIterator& iter, const Scalar& value) {
  dispatch_word(c10::element_size(iter.dtype(0)), [&](auto word) {
    gpu_kernel(iter, masked_fill_functor<decltype(word)>{word_of<decltype(word)>(value, iter.dtype(0))});
  });
}

void arange_kernel(TensorIterator& iter, const Scalar& start, const Scalar& step) {
  dispatch_numeric_types(iter.dtype(0), "arange", [&](auto tag) {
    using T = typename decltype(tag)::type;
    write_range<T>(iter, start.to<T>(), step.to<T>());
  });
}

void linspace_kernel(TensorIterator& iter, const Scalar& start, const Scalar& end, int64_t steps) {
  dispatch_numeric_types(iter.dtype(0), "linspace", [&](auto tag) {
    write_linspace<typename decltype(tag)::type>(iter, start.toDouble(), end.toDouble(), steps);
  });
}

void triangle_kernel(const Tensor& out, const Tensor& self, int64_t diagonal, bool upper) {
  if (self.numel() == 0) return;
  const Tensor in = self.contiguous();
  dispatch_word(in.element_size(), [&](auto word) { copy_triangle<decltype(word)>(out, in, diagonal, upper); });
}

// Between devices the bytes travel as they are, contiguous on both sides; casts and strides are done on the device.
void copy_kernel(TensorIterator& iter, bool non_blocking) {
  const Tensor& destination = iter.output(0);
  const Tensor& source = iter.input(0);
  if (destination.is_cuda() && source.is_cuda()) {
    if (destination.device() == source.device()) return copy_on_device(iter);
    // Another GPU: bring the bytes over first.
    const c10::DeviceGuard guard(source.device());
    const Tensor packed = source.expand(destination.sizes()).contiguous();
    c10::cuda::synchronize(source.device().index());
    const c10::DeviceGuard there(destination.device());
    Tensor arrived = at::empty(packed.sizes(), packed.options().device(destination.device()));
    C10_CUDA_CHECK(cudaMemcpyPeer(arrived.data_ptr(), destination.device().index(), packed.data_ptr(),
                                  source.device().index(), packed.nbytes()));
    Tensor(destination).copy_(arrived);
    return;
  }
  const bool to_device = destination.is_cuda();
  const c10::DeviceGuard guard(to_device ? destination.device() : source.device());
  if (destination.dtype() == source.dtype() && iter.is_contiguous()) {
    const cudaStream_t stream = c10::cuda::current_stream();
    C10_CUDA_CHECK(cudaMemcpyAsync(iter.data(0), iter.data(1), static_cast<size_t>(iter.numel() * iter.element_size(0)),
                                   to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
    // Without pinned memory the driver itself waits until the host may go on.
    if (non_blocking) c10::cuda::record_pinned_use(to_device ? iter.data(1) : iter.data(0), stream);
    else C10_CUDA_CHECK(cudaStreamSynchronize(stream));
    return;
  }
  // `source` may be smaller than the destination: it is broadcast after the journey.
  Tensor there = at::empty(source.sizes(), source.options().device(destination.device()));
  there.copy_(source.contiguous(), non_blocking && to_device);
  Tensor(destination).copy_(there);
}

}  // namespace at::native::cuda
