#pragma once
// Reductions over a TensorIterator. Operations are in the files that use them.
//
// Every output element has `reduced` inputs. They are cut into `splits` ranges when there are too few outputs to fill
// the device; ranges are reduced to partial results first and those to the output after, so results do not depend on
// timing. When the fastest dimension is reduced, up to a warp works on each short row, and a block on each range of a
// long one (threads read neighbours); when it is kept, a block works on neighbouring outputs: its threads go down the
// columns some rows apart, 16 bytes of columns each, and meet at the end.
//
// An operation has: identity, read (input to accumulator), combine, finish (accumulator to output). Inputs of an
// operation on float, and outputs, may be float16 or bfloat16 in memory.

#include <aten/ATen.h>
#include <aten/native/cuda/Loops.cuh>

namespace at::native::cuda {

namespace {

// The quotient of numbers that are not negative: seldom of 64 bits, which take several times as long.
__device__ inline int64_t divide(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return a / b;
}

// Where the inputs of an output are. Kept and reduced dimensions are walked apart, each fastest first.
struct ReductionShape {
  static constexpr int kMaxDims = Offsets<2>::kMaxDims;
  int kept_dims = 0;
  int reduced_dims = 0;
  int64_t outputs = 1;
  int64_t reduced = 1;
  bool fastest_is_reduced = true;
  FloatFormat out_format;  // where the output is a float
  int64_t kept_size[kMaxDims], kept_out[kMaxDims], kept_in[kMaxDims];
  int64_t reduced_size[kMaxDims], reduced_in[kMaxDims];

  explicit ReductionShape(const TensorIterator& iter) : out_format(format_of(dtype_in_memory(iter, 0))) {
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
      const int64_t rest = dim + 1 == kept_dims ? 0 : divide(index, kept_size[dim]);
      const int64_t here = index - rest * kept_size[dim];
      out += here * kept_out[dim];
      in += here * kept_in[dim];
      index = rest;
    }
  }
  __device__ int64_t reduced_offset(int64_t index) const {
    int64_t in = 0;
#pragma unroll 1
    for (int dim = 0; dim < reduced_dims; ++dim) {
      const int64_t rest = dim + 1 == reduced_dims ? 0 : divide(index, reduced_size[dim]);
      in += (index - rest * reduced_size[dim]) * reduced_in[dim];
      index = rest;
    }
    return in;
  }
  // Those of the inputs first, first + step, ...; divisions, where there are any, are compiled once.
  template <int kCount>
  __device__ void reduced_offsets(int64_t first, int64_t step, int64_t (&offsets)[kCount]) const {
    if (reduced_dims == 1) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) offsets[i] = (first + i * step) * reduced_in[0];
      return;
    }
#pragma unroll 1
    for (int number = 0; number < kCount; ++number) {
      const int64_t offset = reduced_offset(first + number * step);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {  // an index that is known to the compiler keeps them in registers
        if (i == number) offsets[i] = offset;
      }
    }
  }
  template <typename Out, typename Value>
  __device__ void write(char* target, Value value) const {
    if constexpr (std::is_same_v<Out, float>) store_float(target, static_cast<float>(value), out_format);
    else *reinterpret_cast<Out*>(target) = static_cast<Out>(value);
  }
};

// How rows are read: element by element; 16 bytes at once, the first of which may begin anywhere in a row, or all of
// which lie at multiples of 16 bytes.
enum class RowAccess : uint8_t { elements, unaligned_packs, packs };

template <typename In>
RowAccess row_access(const ReductionShape& shape, const char* in) {
  constexpr int64_t size = 16 / sizeof(In);
  if (shape.reduced_dims == 0 || shape.reduced_in[0] != sizeof(In)) return RowAccess::elements;
  const auto is_multiple = [](int64_t stride) { return stride % 16 == 0; };
  if (reinterpret_cast<uintptr_t>(in) % 16 == 0 && shape.reduced_size[0] % size == 0 &&
      std::all_of(shape.kept_in, shape.kept_in + shape.kept_dims, is_multiple) &&
      std::all_of(shape.reduced_in + 1, shape.reduced_in + shape.reduced_dims, is_multiple)) {
    return RowAccess::packs;
  }
  return shape.reduced_dims == 1 ? RowAccess::unaligned_packs : RowAccess::elements;
}

struct Plan {
  dim3 block{kThreads};
  int64_t blocks = 1;  // for one range of each output
  int64_t splits = 1;
  int64_t range = 0;  // inputs per split, a multiple of a pack
  RowAccess access = RowAccess::elements;
};

constexpr int64_t kMultiprocessors = 132;  // of the device that plans are made for; others take them, too

// Cuts the inputs of an output for blocks that have nothing to do, to ranges of at least `smallest`.
Plan cut(Plan plan, const ReductionShape& shape, int64_t smallest, int64_t wanted_blocks) {
  constexpr int64_t largest_pack = 16;
  int64_t splits = 1;
  if (plan.blocks < wanted_blocks) {
    splits = std::min<int64_t>({shape.reduced / smallest, wanted_blocks / std::max<int64_t>(plan.blocks, 1), 1024});
    splits = std::max<int64_t>(splits, 1);
  }
  plan.range = (shape.reduced + splits - 1) / splits;
  plan.range = std::max<int64_t>((plan.range + largest_pack - 1) / largest_pack * largest_pack, largest_pack);
  plan.splits = std::max<int64_t>((shape.reduced + plan.range - 1) / plan.range, 1);
  return plan;
}

// Rows of up to two loads by each thread of a warp are the work of a part of one, and so are longer ones where there
// are many. Threads along x take a row, and those along y other rows.
template <typename In>
Plan plan_for_rows(const ReductionShape& shape, const char* in) {
  Plan plan;
  plan.access = row_access<In>(shape, in);
  constexpr int64_t size = 16 / sizeof(In);
  const int64_t loads = plan.access == RowAccess::elements ? shape.reduced : (shape.reduced + size - 1) / size;
  const bool has_many_rows = shape.outputs >= kMultiprocessors * 16;
  if (loads > kWarp * (has_many_rows ? 16 : 2)) {
    plan.blocks = shape.outputs;
    return cut(plan, shape, 2048, kMultiprocessors * 4);  // four blocks that load 64 bytes per thread fill the memory
  }
  unsigned x = kWarp;
  while (x > 1 && x / 2 >= loads) x /= 2;
  plan.block = dim3(x, kThreads / x);
  plan.blocks = (shape.outputs + plan.block.y - 1) / plan.block.y;
  plan.range = shape.reduced;
  return plan;
}

// Threads along x take `packs` of columns, and those along y rows: as many as there are, which are powers of two.
Plan plan_for_columns(const ReductionShape& shape, int64_t packs) {
  unsigned x = kWarp;
  while (x > 1 && x / 2 >= packs) x /= 2;
  unsigned y = kThreads / x;
  for (; y > 1 && y / 2 >= shape.reduced; y /= 2) x *= 2;
  Plan plan;
  plan.block = dim3(x, y);
  plan.blocks = (packs + x - 1) / x;
  return cut(plan, shape, int64_t{y} * 16, kMultiprocessors * 4);  // as for rows: all of them at once on the device
}

// This thread's share of the inputs [begin, end) of the row at `row`: 16 bytes at once, some loads on their way before
// one is waited for, and one each of those before and behind whole packs.
template <typename Operation, typename In>
__device__ typename Operation::Accumulator reduce_neighbours(const Operation& operation, const ReductionShape& shape,
                                                             const char* row, int64_t begin, int64_t end) {
  constexpr int kSize = 16 / sizeof(In);
  constexpr int kLoads = kSize > 8 ? 2 : 4;
  using Neighbours = Pack<In, kSize>;
  const int64_t count = end > begin ? end - begin : 0;
  const char* first = row + shape.reduced_offset(begin);
  const auto gap = static_cast<int64_t>((16 - reinterpret_cast<uintptr_t>(first) % 16) % 16 / sizeof(In));
  const int64_t packs = count > gap ? (count - gap) / kSize : 0;
  auto value = Operation::identity();
  const auto take = [&](const Neighbours& neighbours) {
#pragma unroll
    for (int j = 0; j < kSize; ++j) value = Operation::combine(value, operation.read(neighbours.values[j]));
  };
  for (int64_t i = threadIdx.x; i < count - packs * kSize; i += blockDim.x) {
    const int64_t single = i < gap ? i : i + packs * kSize;
    value = Operation::combine(value, operation.read(reinterpret_cast<const In*>(first)[single]));
  }
  int64_t i = threadIdx.x;
  for (; i + (kLoads - 1) * int64_t{blockDim.x} < packs; i += kLoads * int64_t{blockDim.x}) {
    int64_t offsets[kLoads];
    shape.reduced_offsets(begin + gap + i * kSize, int64_t{blockDim.x} * kSize, offsets);
    Neighbours loaded[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) loaded[j] = *reinterpret_cast<const Neighbours*>(row + offsets[j]);
#pragma unroll
    for (int j = 0; j < kLoads; ++j) take(loaded[j]);
  }
  for (; i < packs; i += blockDim.x) {
    const auto neighbours =
        *reinterpret_cast<const Neighbours*>(row + shape.reduced_offset(begin + gap + i * kSize));
    take(neighbours);
  }
  return value;
}

// blockDim.x threads for each (output, split), which are blockDim.y to a block; `partial` is null when there is one
// split, and the output is written at once.
template <typename Operation, typename Out, typename In>
__global__ void __launch_bounds__(kThreads, 4)
    reduce_rows(Operation operation, ReductionShape shape, Plan plan, char* out, const char* in,
                typename Operation::Accumulator* partial) {
  using A = typename Operation::Accumulator;
  alignas(A) __shared__ unsigned char memory[kWarp * sizeof(A)];  // a complex A would be initialised, which is refused
  A* shared = reinterpret_cast<A*>(memory);
  const auto combine = [](A a, A b) { return Operation::combine(a, b); };
  const int64_t jobs = shape.outputs * plan.splits;
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < jobs; first += gridDim.x * int64_t{blockDim.y}) {
    const int64_t job = first + threadIdx.y;
    int64_t out_offset = 0;
    A value = Operation::identity();
    if (job < jobs) {
      const int64_t output = plan.splits == 1 ? job : divide(job, plan.splits);
      int64_t in_offset;
      shape.kept_offsets(output, out_offset, in_offset);
      const int64_t begin = (job - output * plan.splits) * plan.range;
      const int64_t end = ::min(begin + plan.range, shape.reduced);
      if (plan.access != RowAccess::elements) {
        value = reduce_neighbours<Operation, In>(operation, shape, in + in_offset, begin, end);
      } else {
        for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
          const char* source = in + in_offset + shape.reduced_offset(i);
          value = combine(value, operation.read(*reinterpret_cast<const In*>(source)));
        }
      }
    }
    if (blockDim.x > kWarp) {
      value = block_reduce(value, Operation::identity(), combine, shared);
    } else {
      for (int offset = blockDim.x / 2; offset > 0; offset /= 2) value = combine(value, shuffle_down(value, offset));
    }
    if (threadIdx.x != 0 || job >= jobs) continue;
    if (partial) partial[job] = value;
    else shape.write<Out>(out + out_offset, operation.finish(value));
  }
}

// Whether kSize neighbouring outputs have inputs side by side, all at multiples of their size.
template <typename In, int kSize>
bool has_packed_columns(const ReductionShape& shape, const char* in) {
  constexpr int64_t bytes = sizeof(In) * kSize;
  const auto is_multiple = [](int64_t stride) { return stride % bytes == 0; };
  return shape.kept_in[0] == sizeof(In) && shape.kept_size[0] % kSize == 0 &&
         reinterpret_cast<uintptr_t>(in) % bytes == 0 &&
         std::all_of(shape.kept_in + 1, shape.kept_in + shape.kept_dims, is_multiple) &&
         std::all_of(shape.reduced_in, shape.reduced_in + shape.reduced_dims, is_multiple);
}

// A thread reduces kSize neighbouring columns over rows that are blockDim.y apart, some loads on their way before one
// is waited for; blockIdx.y is the split.
template <typename Operation, typename Out, typename In, int kSize>
__global__ void __launch_bounds__(kThreads, 4)
    reduce_columns(Operation operation, ReductionShape shape, Plan plan, char* out, const char* in,
                   typename Operation::Accumulator* partial) {
  using A = typename Operation::Accumulator;
  using Neighbours = Pack<In, kSize>;
  constexpr int kLoads = kSize > 8 ? 2 : 4;
  alignas(16) __shared__ unsigned char memory[kThreads * kSize * sizeof(A)];
  auto shared = reinterpret_cast<A(*)[kSize]>(memory);
  const int64_t split = blockIdx.y;
  const int64_t end = ::min((split + 1) * plan.range, shape.reduced);
  const int64_t packs = shape.outputs / kSize;
  const unsigned own = threadIdx.y * blockDim.x + threadIdx.x;
  for (int64_t first = blockIdx.x * int64_t{blockDim.x}; first < packs; first += int64_t{blockDim.x} * gridDim.x) {
    const int64_t output = (first + threadIdx.x) * kSize;
    int64_t out_offset = 0, in_offset = 0;
    A values[kSize];
#pragma unroll
    for (int j = 0; j < kSize; ++j) values[j] = Operation::identity();
    if (output < shape.outputs) {
      shape.kept_offsets(output, out_offset, in_offset);
      const auto take = [&](const Neighbours& neighbours) {
#pragma unroll
        for (int j = 0; j < kSize; ++j) values[j] = Operation::combine(values[j], operation.read(neighbours.values[j]));
      };
      int64_t i = split * plan.range + threadIdx.y;
      for (; i + (kLoads - 1) * int64_t{blockDim.y} < end; i += kLoads * int64_t{blockDim.y}) {
        int64_t offsets[kLoads];
        shape.reduced_offsets(i, blockDim.y, offsets);
        Neighbours loaded[kLoads];
#pragma unroll
        for (int j = 0; j < kLoads; ++j)
          loaded[j] = *reinterpret_cast<const Neighbours*>(in + in_offset + offsets[j]);
#pragma unroll
        for (int j = 0; j < kLoads; ++j) take(loaded[j]);
      }
      for (; i < end; i += blockDim.y) {
        const Neighbours neighbours = *reinterpret_cast<const Neighbours*>(in + in_offset + shape.reduced_offset(i));
        take(neighbours);
      }
    }
    __syncthreads();  // the columns before may still be read
#pragma unroll
    for (int j = 0; j < kSize; ++j) shared[own][j] = values[j];
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.y >= half) continue;
#pragma unroll
      for (int j = 0; j < kSize; ++j)
        shared[own][j] = Operation::combine(shared[own][j], shared[own + half * blockDim.x][j]);
    }
    if (threadIdx.y != 0 || output >= shape.outputs) continue;
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      if (partial)
        partial[(output + j) * plan.splits + split] = shared[own][j];
      else
        shape.write<Out>(out + out_offset + j * shape.kept_out[0], operation.finish(shared[own][j]));
    }
  }
}

// A warp for each output: its lanes read neighbouring partial results, of which a single output may have a thousand.
template <typename Operation, typename Out>
__global__ void __launch_bounds__(kThreads) reduce_partials(Operation operation, ReductionShape shape, Plan plan,
                                                            char* out, const typename Operation::Accumulator* partial) {
  const int64_t warps = gridDim.x * int64_t{blockDim.x} / kWarp;
  for (int64_t output = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / kWarp; output < shape.outputs;
       output += warps) {
    typename Operation::Accumulator value = Operation::identity();
    for (int64_t split = threadIdx.x % kWarp; split < plan.splits; split += kWarp)
      value = Operation::combine(value, partial[output * plan.splits + split]);
    for (int offset = kWarp / 2; offset > 0; offset /= 2)
      value = Operation::combine(value, shuffle_down(value, offset));
    if (threadIdx.x % kWarp != 0) continue;
    int64_t out_offset, in_offset;
    shape.kept_offsets(output, out_offset, in_offset);
    shape.write<Out>(out + out_offset, operation.finish(value));
  }
}

// An element of a format of 16 bits, and an operation on float that reads such elements.
struct HalfBits {
  uint16_t bits;
};
template <typename Operation>
struct OnHalves : Operation {
  FloatFormat format;
  __device__ auto read(HalfBits x) const { return Operation::read(widen(x.bits, format)); }
};

template <typename Operation, typename Out, typename In, typename Original>
void run_reduction(const TensorIterator& iter, const Operation& operation, const Original& original) {
  using A = typename Operation::Accumulator;
  constexpr int kSize = 16 / sizeof(In);
  const ReductionShape shape(iter);
  if (shape.outputs == 0) return;
  const bool is_packed = !shape.fastest_is_reduced && has_packed_columns<In, kSize>(shape, iter.data(1));
  const Plan plan = shape.fastest_is_reduced
                        ? plan_for_rows<In>(shape, iter.data(1))
                        : plan_for_columns(shape, is_packed ? shape.outputs / kSize : shape.outputs);
  c10::DataPtr partials;
  if (plan.splits > 1) {
    partials =
        c10::get_backend(kCUDA).allocator()->allocate(static_cast<size_t>(shape.outputs * plan.splits) * sizeof(A));
  }
  A* partial = static_cast<A*>(partials.get());
  const auto start = [&](auto* kernel, dim3 grid) {
    launch(kernel, grid, plan.block, operation, shape, plan, iter.data(0), iter.data(1), partial);
  };
  const dim3 columns(grid_of_rows(plan.blocks), static_cast<unsigned>(plan.splits));
  if (shape.fastest_is_reduced)
    start(reduce_rows<Operation, Out, In>, grid_of_rows(plan.blocks * plan.splits));
  else if (is_packed)
    start(reduce_columns<Operation, Out, In, kSize>, columns);
  else
    start(reduce_columns<Operation, Out, In, 1>, columns);
  if (partial) {
    launch(reduce_partials<Original, Out>, grid_for(shape.outputs * kWarp), kThreads, original, shape, plan,
           iter.data(0), partial);
  }
}

template <typename Operation, typename Out, typename In>
void reduce(const TensorIterator& iter, const Operation& operation) {
  if constexpr (std::is_same_v<In, float>) {
    const FloatFormat format = format_of(dtype_in_memory(iter, 1));
    if (format != FloatFormat::float32)
      return run_reduction<OnHalves<Operation>, Out, HalfBits>(iter, OnHalves<Operation>{operation, format}, operation);
  }
  run_reduction<Operation, Out, In>(iter, operation, operation);
}

}  // namespace

}  // namespace at::native::cuda
