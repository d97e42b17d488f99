#pragma once
// Reductions over a TensorIterator. Operations are in the files that use them.
//
// Every output element has `reduced` inputs. They are cut into `splits` ranges when there are too few outputs to fill
// the device; ranges are reduced to partial results first and those to the output after, so results do not depend on
// timing. When the fastest dimension is reduced, a block works on one range (threads read neighbours); when it is kept,
// each thread works on its own output (threads still read neighbours).
//
// An operation has: identity, read (input to accumulator), combine, finish (accumulator to output).

#include <aten/ATen.h>
#include <aten/native/cuda/Loops.cuh>

namespace at::native::cuda {

namespace {

// Where the inputs of an output are. Kept and reduced dimensions are walked apart, each fastest first.
struct ReductionShape {
  static constexpr int kMaxDims = Offsets<2>::kMaxDims;
  int kept_dims = 0;
  int reduced_dims = 0;
  int64_t outputs = 1;
  int64_t reduced = 1;
  bool fastest_is_reduced = true;
  int64_t kept_size[kMaxDims], kept_out[kMaxDims], kept_in[kMaxDims];
  int64_t reduced_size[kMaxDims], reduced_in[kMaxDims];

  explicit ReductionShape(const TensorIterator& iter) {
    TORCH_CHECK(iter.ndim() <= kMaxDims, "CUDA reductions take at most ", kMaxDims,
                " dimensions that cannot be merged, got ", iter.ndim());
    for (int dim = 0; dim < iter.ndim(); ++dim) {
      const int64_t size = iter.shape()[dim];
      if (iter.strides(0)[dim] == 0) {
        reduced_size[reduced_dims] = size;
        reduced_in[reduced_dims++] = iter.strides(1)[dim];
        reduced *= size;
      } else {
        kept_size[kept_dims] = size;
        kept_out[kept_dims] = iter.strides(0)[dim];
        kept_in[kept_dims++] = iter.strides(1)[dim];
        outputs *= size;
      }
      if (dim == 0) fastest_is_reduced = iter.strides(0)[dim] == 0;
    }
  }

  __device__ void kept_offsets(int64_t index, int64_t& out, int64_t& in) const {
    out = in = 0;
#pragma unroll 1
    for (int dim = 0; dim < kept_dims; ++dim) {
      const int64_t here = index % kept_size[dim];
      index /= kept_size[dim];
      out += here * kept_out[dim];
      in += here * kept_in[dim];
    }
  }
  __device__ int64_t reduced_offset(int64_t index) const {
    if (reduced_dims == 1) return index * reduced_in[0];
    int64_t in = 0;
#pragma unroll 1
    for (int dim = 0; dim < reduced_dims; ++dim) {
      in += index % reduced_size[dim] * reduced_in[dim];
      index /= reduced_size[dim];
    }
    return in;
  }
};

struct Plan {
  int64_t splits = 1;
  int64_t range = 0;  // inputs per split
};

Plan plan_for(const ReductionShape& shape) {
  constexpr int64_t wanted_blocks = 132 * 8;
  constexpr int64_t smallest_range = 2048;
  const int64_t blocks = shape.fastest_is_reduced ? shape.outputs : (shape.outputs + kThreads - 1) / kThreads;
  Plan plan;
  if (blocks < wanted_blocks) {
    const int64_t useful = std::max<int64_t>(1, shape.reduced / (shape.fastest_is_reduced ? smallest_range : 64));
    plan.splits = std::min<int64_t>({useful, wanted_blocks / std::max<int64_t>(blocks, 1), 1024});
    plan.splits = std::max<int64_t>(plan.splits, 1);
  }
  plan.range = (shape.reduced + plan.splits - 1) / plan.splits;
  return plan;
}

// This thread's share of `count` inputs from `first` on: 16 bytes at once,
// and one each of those before and behind them.
template <typename Operation, typename In>
__device__ typename Operation::Accumulator reduce_neighbours(const Operation& operation, const In* first,
                                                             int64_t count) {
  constexpr int kSize = 16 / sizeof(In);
  using Neighbours = Pack<In, kSize>;
  const auto gap = static_cast<int64_t>((16 - reinterpret_cast<uintptr_t>(first) % 16) % 16 / sizeof(In));
  const int64_t packs = count > gap ? (count - gap) / kSize : 0;
  auto value = Operation::identity();
  const int64_t single = threadIdx.x < gap ? threadIdx.x : threadIdx.x + packs * kSize;
  if (single < count) value = Operation::combine(value, operation.read(first[single]));
  const Neighbours* aligned = reinterpret_cast<const Neighbours*>(first + gap);
  for (int64_t i = threadIdx.x; i < packs; i += blockDim.x) {
    const Neighbours neighbours = aligned[i];
#pragma unroll
    for (int j = 0; j < kSize; ++j) value = Operation::combine(value, operation.read(neighbours.values[j]));
  }
  return value;
}

// One block per (output, split); `partial` is null when there is one split, and the output is written at once.
template <typename Operation, typename Out, typename In>
__global__ void __launch_bounds__(kThreads) reduce_rows(Operation operation, ReductionShape shape, Plan plan, char* out,
                                                        const char* in, typename Operation::Accumulator* partial) {
  using A = typename Operation::Accumulator;
  alignas(A) __shared__ unsigned char memory[kWarp * sizeof(A)];  // a complex A would be initialised, which is refused
  A* shared = reinterpret_cast<A*>(memory);
  const auto combine = [](A a, A b) { return Operation::combine(a, b); };
  for (int64_t job = blockIdx.x; job < shape.outputs * plan.splits; job += gridDim.x) {
    const int64_t split = job % plan.splits;
    int64_t out_offset, in_offset;
    shape.kept_offsets(job / plan.splits, out_offset, in_offset);
    const int64_t begin = split * plan.range;
    const int64_t end = ::min(begin + plan.range, shape.reduced);
    A value = Operation::identity();
    if (shape.reduced_dims == 1 && shape.reduced_in[0] == sizeof(In)) {
      value = reduce_neighbours(operation, reinterpret_cast<const In*>(in + in_offset) + begin, end - begin);
    } else {
      for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        value = combine(value, operation.read(*reinterpret_cast<const In*>(in + in_offset + shape.reduced_offset(i))));
      }
    }
    value = block_reduce(value, Operation::identity(), combine, shared);
    if (threadIdx.x == 0) {
      if (partial) partial[job] = value;
      else *reinterpret_cast<Out*>(out + out_offset) = static_cast<Out>(operation.finish(value));
    }
  }
}

// One thread per output, blockIdx.y is the split.
template <typename Operation, typename Out, typename In>
__global__ void __launch_bounds__(kThreads)
    reduce_columns(Operation operation, ReductionShape shape, Plan plan, char* out, const char* in,
                   typename Operation::Accumulator* partial) {
  const int64_t split = blockIdx.y;
  for (int64_t output = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; output < shape.outputs;
       output += int64_t{blockDim.x} * gridDim.x) {
    int64_t out_offset, in_offset;
    shape.kept_offsets(output, out_offset, in_offset);
    const int64_t end = ::min((split + 1) * plan.range, shape.reduced);
    typename Operation::Accumulator value = Operation::identity();
    for (int64_t i = split * plan.range; i < end; ++i) {
      value = Operation::combine(
          value, operation.read(*reinterpret_cast<const In*>(in + in_offset + shape.reduced_offset(i))));
    }
    if (partial) partial[output * plan.splits + split] = value;
    else *reinterpret_cast<Out*>(out + out_offset) = static_cast<Out>(operation.finish(value));
  }
}

template <typename Operation, typename Out>
__global__ void __launch_bounds__(kThreads) reduce_partials(Operation operation, ReductionShape shape, Plan plan,
                                                            char* out, const typename Operation::Accumulator* partial) {
  for (int64_t output = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; output < shape.outputs;
       output += int64_t{blockDim.x} * gridDim.x) {
    typename Operation::Accumulator value = Operation::identity();
    for (int64_t split = 0; split < plan.splits; ++split)
      value = Operation::combine(value, partial[output * plan.splits + split]);
    int64_t out_offset, in_offset;
    shape.kept_offsets(output, out_offset, in_offset);
    *reinterpret_cast<Out*>(out + out_offset) = static_cast<Out>(operation.finish(value));
  }
}

template <typename Operation, typename Out, typename In>
void reduce(const TensorIterator& iter, Operation operation) {
  using A = typename Operation::Accumulator;
  const ReductionShape shape(iter);
  if (shape.outputs == 0) return;
  const Plan plan = plan_for(shape);
  c10::DataPtr partials;
  if (plan.splits > 1) {
    partials =
        c10::get_backend(kCUDA).allocator()->allocate(static_cast<size_t>(shape.outputs * plan.splits) * sizeof(A));
  }
  A* partial = static_cast<A*>(partials.get());
  if (shape.fastest_is_reduced) {
    launch(reduce_rows<Operation, Out, In>, grid_of_rows(shape.outputs * plan.splits), kThreads, operation, shape, plan,
           iter.data(0), iter.data(1), partial);
  } else {
    const dim3 blocks(grid_for(shape.outputs), static_cast<unsigned>(plan.splits));
    launch(reduce_columns<Operation, Out, In>, blocks, kThreads, operation, shape, plan, iter.data(0), iter.data(1),
           partial);
  }
  if (partial) {
    launch(reduce_partials<Operation, Out>, grid_for(shape.outputs), kThreads, operation, shape, plan, iter.data(0),
           partial);
  }
}

}  // namespace

}  // namespace at::native::cuda
