// Walking an iterator: rows, threads, halves; and reading the numbers that are operands.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/TensorIterator.h>
#include <aten/native/cpu/Conversion.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace at {

namespace detail {

Scalar load_scalar(const void* data, ScalarType dtype) {
  return dispatch_stored_types(dtype, "item", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    return Scalar(*static_cast<const scalar_t*>(data));
  });
}

void store_scalar(void* data, ScalarType dtype, const Scalar& value) {
  dispatch_stored_types(dtype, "store", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    auto* destination = static_cast<scalar_t*>(data);
    if constexpr (c10::is_reduced_floating_v<scalar_t> || c10::is_float8_v<scalar_t>) {
      *destination = static_cast<scalar_t>(value.to<float>());
    } else if constexpr (std::is_floating_point_v<scalar_t> || std::is_same_v<scalar_t, bool>) {
      *destination = value.to<scalar_t>();
    } else if constexpr (c10::is_complex_v<scalar_t>) {
      *destination = value.to<scalar_t>();
    } else if (value.is_large_unsigned()) {
      *destination = static_cast<scalar_t>(value.to<uint64_t>());
    } else {
      // As a tensor of that value would be converted: integers wrap.
      *destination = static_cast<scalar_t>(value.toLong());
    }
  });
}

}  // namespace detail

const Tensor& TensorIterator::tensor(int operand) const {
  const Operand& o = operands_[operand];
  return o.temporary.defined() ? o.temporary : o.source();
}

Scalar TensorIterator::read_scalar(int operand) const { return detail::load_scalar(data(operand), dtype(operand)); }

int64_t TensorIterator::num_output_elements() const {
  int64_t count = 1;
  for (int dim = 0; dim < ndim(); ++dim) {
    if (operands_[0].strides[dim] != 0 || shape_[dim] == 0) count *= shape_[dim];
  }
  return count;
}

ScalarType TensorIterator::halves_in_memory() const {
  const ScalarType dtype = memory_dtype(0);
  if (!converts_rows_ || outputs_ != 1 || !c10::is_reduced_floating_type(dtype)) return ScalarType::Undefined;
  for (int i = outputs_; i < count_; ++i) {
    const bool is_number = operands_[i].is_cpu_scalar && memory_dtype(i) == kFloat;
    if (!is_number && memory_dtype(i) != dtype) return ScalarType::Undefined;
  }
  return dtype;
}

bool TensorIterator::is_contiguous() const {
  if (ndim() == 0) return true;
  if (ndim() > 1) return false;
  for (int i = 0; i < count_; ++i) {
    if (operands_[i].strides[0] != element_size(i)) return false;
  }
  return true;
}

namespace {

constexpr int64_t kShortRow = 128;  // elements up to which
constexpr int64_t kTiledRow = 512;  // rows are made so long, where they can be
constexpr int64_t kNumberRow = 128;  // bytes of what is laid out from which rows are not
constexpr int64_t kHalvesRow = 48;  // elements from which loops over halves take rows where they lie, too
constexpr int64_t kFoldedBytes = 1024;  // The same for longer rows of small elements, where all of an input repeats:
constexpr int64_t kFoldedRow = 4096;    // a call costs what it takes to write some hundred bytes.
constexpr int64_t kSlab = 4096;     // elements from which on laying out an input again is cheap
constexpr int64_t kCrossedRow = 7;  // elements up to which a call per row costs more than steps between elements,
constexpr int64_t kCrossedBytes = 32;  // and bytes: one vector does all of a longer row
constexpr int64_t kTileRow = 128;      // elements of a row in a tile of what lies crosswise
constexpr int64_t kTileColumn = 128;   // bytes of a column there, two lines: a tile stays in the first cache
constexpr int64_t kVector = 16;        // bytes
constexpr int64_t kLeastTile = 8;      // elements along both dimensions from which tiles pay

int64_t largest_divisor_up_to(int64_t number, int64_t limit) {
  int64_t divisor = std::min(number, limit);
  while (divisor > 1 && number % divisor != 0) --divisor;
  return divisor;
}

}  // namespace

void TensorIterator::run_loop(Loop loop, void* context, int64_t grain_size, bool converts) const {
  if (C10_LIKELY(ndim() <= 1 && numel_ <= grain_size)) return serial_loop(loop, context, 0, numel_, converts);
  const auto run = [&](const TensorIterator& iter) {
    if (numel_ <= grain_size) return iter.serial_loop(loop, context, 0, numel_, converts);
    parallel_for(0, numel_, grain_size,
                 [&](int64_t first, int64_t last) { iter.serial_loop(loop, context, first, last, converts); });
  };
  if (const int dim = crossing_dimension(); dim != 0) {
    TensorIterator crossed(*this);
    crossed.swap_dimensions(1, dim);
    return crossed.run_tiles(loop, context, grain_size, converts);
  }
  // Rows that are short because inputs repeat in them, as a bias does under channels: such inputs are laid out as often
  // as makes the rows long.
  const bool is_many = ndim() > 1 && numel_ > kTiledRow && !is_reduction_;
  const bool is_short = is_many && shape_[0] <= kShortRow;
  const int64_t row_bytes = is_many ? shape_[0] * static_cast<int64_t>(c10::element_size(memory_dtype(0))) : 0;
  const bool is_foldable = is_short || (is_many && row_bytes <= kFoldedBytes);
  const int64_t most = is_short ? kTiledRow / shape_[0] : kFoldedRow / std::max<int64_t>(row_bytes, 1);
  const int64_t fold = is_foldable ? largest_divisor_up_to(shape_[1], most) : 1;
  const auto continues = [&](const Operand& operand) { return operand.strides[1] == shape_[0] * operand.strides[0]; };
  const auto repeats = [](const Operand& operand) {
    return std::all_of(operand.strides.begin() + 1, operand.strides.end(), [](int64_t stride) { return stride == 0; });
  };
  bool can_fold = fold > 1;
  for (int i = 0; i < count_ && can_fold; ++i)
    can_fold = continues(operands_[i]) || (i >= outputs_ && repeats(operands_[i]));
  // Inputs that repeat within the two fastest dimensions only, as numbers of samples and channels do under pixels whose
  // channels lie last, are laid out for one slab of these after the other.
  const auto repeats_within = [](const Operand& operand) { return operand.strides[1] == 0; };
  bool folds_slabs = !can_fold && is_short && fold > 1 && ndim() > 2 && shape_[0] * shape_[1] >= kSlab;
  for (int i = 0; i < count_ && folds_slabs; ++i)
    folds_slabs = continues(operands_[i]) || (i >= outputs_ && repeats_within(operands_[i]));
  if (folds_slabs) return run_slabs(loop, context, grain_size, converts);
  // Rows that stay as short as the corners of boxes change places with the next dimension, unless a vector takes one.
  const auto is_row = [&](int i) {
    const int64_t step = operands_[i].strides[0];
    const bool is_near = step == 0 || step == static_cast<int64_t>(c10::element_size(memory_dtype(i)));
    return continues(operands_[i]) || (i >= outputs_ && is_near);
  };
  bool is_laid_out = row_bytes >= kVector;
  for (int i = 0; i < count_ && is_laid_out; ++i) is_laid_out = is_row(i);
  if (!can_fold && is_short && shape_[0] <= std::min(kCrossedRow, kCrossedBytes / element_size(count_ - 1)) &&
      shape_[1] > 4 * shape_[0] && !is_laid_out) {
    TensorIterator crossed(*this);
    crossed.swap_dimensions(0, 1);
    return run(crossed);
  }
  if (!can_fold) return run(*this);
  TensorIterator wide(*this);
  wide.shape_[0] *= fold;
  wide.shape_[1] /= fold;
  constexpr int64_t kLine = 64;  // bytes that vectors are aligned to
  std::array<std::vector<char>, kMaxOperands> tiles;
  for (int i = 0; i < count_; ++i) {
    Operand& operand = wide.operands_[i];
    if (continues(operand)) {
      operand.strides[1] *= fold;
      continue;
    }
    const auto size = static_cast<int64_t>(c10::element_size(memory_dtype(i)));
    const int64_t bytes = size * wide.shape_[0];
    tiles[i].resize(static_cast<size_t>(bytes + kLine));
    char* const tile = tiles[i].data() + (-reinterpret_cast<intptr_t>(tiles[i].data()) & (kLine - 1));
    for (int64_t j = 0; j < shape_[0]; ++j) {
      std::memcpy(tile + j * size, data(i) + j * operand.strides[0], static_cast<size_t>(size));
    }
    for (int64_t done = shape_[0] * size; done < bytes; done *= 2) {
      std::memcpy(tile + done, tile, static_cast<size_t>(std::min(done, bytes - done)));
    }
    operand.data = tile;
    operand.strides[0] = size;
  }
  run(wide);
}

void TensorIterator::run_slabs(Loop loop, void* context, int64_t grain_size, bool converts) const {
  const int64_t elements = shape_[0] * shape_[1];
  parallel_for(0, numel_ / elements, std::max<int64_t>(1, grain_size / elements), [&](int64_t first, int64_t last) {
    for (int64_t number = first; number < last; ++number) {
      TensorIterator slab(*this);
      slab.numel_ = elements;
      slab.shape_.resize(2);
      int64_t rest = number;
      for (int dim = 2; dim < ndim(); ++dim) {
        const int64_t place = rest % shape_[dim];
        rest /= shape_[dim];
        for (int i = 0; i < count_; ++i) {
          if (!operands_[i].is_inline) slab.operands_[i].data += place * operands_[i].strides[dim];
        }
      }
      for (int i = 0; i < count_; ++i) slab.operands_[i].strides.resize(2);
      slab.run_loop(loop, context, grain_size, converts);
    }
  });
}

namespace {

constexpr int64_t kConvertedRow = 512;  // elements at a time: they stay in the first cache

// Stands between a walk and a kernel's loop: gives it parts of rows in its own dtypes, and writes its results back.
struct RowConverter {
  struct Side {
    std::optional<native::cpu::Conversion> convert;  // of an input into the kernel's dtype, of an output out of it
    int64_t size = 0;                                // of an element in the kernel
  };
  TensorIterator::Loop loop;
  void* context;
  int count;
  int outputs;
  std::array<Side, TensorIterator::kMaxOperands> sides;

  static void run(void* self, char** data, const int64_t* strides, int64_t count) {
    static_cast<const RowConverter*>(self)->run(data, strides, count);
  }
  void run(char** data, const int64_t* strides, int64_t row) const {
    // Not a multiple of 4096 bytes apart: processors take such addresses for the same, and wait.
    alignas(64) char buffers[TensorIterator::kMaxOperands][kConvertedRow * sizeof(c10::complex<double>) + 320];
    char* given[TensorIterator::kMaxOperands];
    int64_t steps[TensorIterator::kMaxOperands];
    for (int64_t done = 0; done < row; done += kConvertedRow) {
      const int64_t part = std::min(kConvertedRow, row - done);
      for (int i = 0; i < count; ++i) {
        char* const memory = data[i] + done * strides[i];
        const Side& side = sides[i];
        given[i] = side.convert ? buffers[i] : memory;
        steps[i] = side.convert && (strides[i] != 0 || i < outputs) ? side.size : strides[i];
        if (!side.convert || i < outputs) continue;
        (*side.convert)(buffers[i], side.size, memory, strides[i], strides[i] == 0 ? 1 : part);
      }
      loop(context, given, steps, part);
      for (int i = 0; i < outputs; ++i) {
        if (sides[i].convert)
          (*sides[i].convert)(data[i] + done * strides[i], strides[i], buffers[i], sides[i].size, part);
      }
    }
  }
};

RowConverter convert_rows(const TensorIterator& iter, TensorIterator::Loop loop, void* context) {
  RowConverter converter{loop, context, iter.noperands(), iter.noutputs(), {}};
  for (int i = 0; i < converter.count; ++i) {
    const ScalarType kernel = iter.dtype(i);
    const ScalarType memory = iter.memory_dtype(i);
    if (kernel == memory) continue;
    const bool reads = i >= converter.outputs;
    converter.sides[i].convert.emplace(reads ? kernel : memory, reads ? memory : kernel);
    converter.sides[i].size = iter.element_size(i);
  }
  return converter;
}

// Calls the loop for rows one after another, whose pointers move on. They are counted beside what the loop is given, in
// registers: to read them back from memory, where sums are made in vectors, takes longer than a short row.
template <int kOperands>
void call_for_rows(TensorIterator::Loop loop, void* context, char** pointers, const int64_t* steps, const int64_t* next,
                   int64_t rows, int64_t length) {
  char* places[kOperands];
  std::copy_n(pointers, kOperands, places);
  for (; rows > 0; --rows) {
    loop(context, pointers, steps, length);
#pragma GCC unroll 4
    for (int i = 0; i < kOperands; ++i) {
      char* place = places[i] + next[i];
#if defined(__GNUC__)
      asm("" : "+r"(place));
#endif
      pointers[i] = places[i] = place;
    }
  }
}

using CallForRows = void (*)(TensorIterator::Loop loop, void* context, char** pointers, const int64_t* steps,
                             const int64_t* next, int64_t rows, int64_t length);
CallForRows call_for_rows_of(int operands) {
  switch (operands) {
    case 1: return call_for_rows<1>;
    case 2: return call_for_rows<2>;
    case 3: return call_for_rows<3>;
    default: return call_for_rows<TensorIterator::kMaxOperands>;
  }
}

// Short rows that follow each other in what is written, and not in some of what is read, as where a column is added:
// such inputs are laid out for many rows, so that the kernel's loop is called once for these.
struct ShortRows {
  int count;
  int64_t length;
  const int64_t* steps;  // from an element to the next
  const int64_t* next;   // from a row to the next
  std::array<int64_t, TensorIterator::kMaxOperands> sizes;  // of elements; 0: its rows are taken where they lie
  bool one_by_one = false;  // what is not laid out does not follow each other

  // Only inputs that stay the same along a row, but for the last one, which loops over three take as a number or lay
  // out themselves; returns whether there are such, in rows that are short.
  bool lay_out_repeats(const TensorIterator& iter) {
    sizes[count - 1] = 0;
    if (length > kShortRow || iter.numel() <= kTiledRow || iter.is_reduction()) return false;
    for (int i = 0; i + 1 < count; ++i) {
      const bool repeats = i >= iter.noutputs() && steps[i] == 0 && next[i] != 0;
      sizes[i] = repeats ? static_cast<int64_t>(c10::element_size(iter.memory_dtype(i))) : 0;
      one_by_one |= repeats;
    }
    return one_by_one;
  }

  void run(TensorIterator::Loop loop, void* context, char* const* pointers, int64_t rows) const {
    constexpr int64_t kTileBytes = kTiledRow * sizeof(c10::complex<double>);
    alignas(64) char tiles[TensorIterator::kMaxOperands][kTileBytes + kVector];
    const int64_t at_once = kTiledRow / length;
    char* given[TensorIterator::kMaxOperands];
    int64_t own_steps[TensorIterator::kMaxOperands];
    int64_t own_next[TensorIterator::kMaxOperands];
    for (int64_t done = 0; done < rows; done += at_once) {
      const int64_t part = std::min(at_once, rows - done);
      for (int i = 0; i < count; ++i) {
        given[i] = pointers[i] + done * next[i];
        own_steps[i] = steps[i];
        own_next[i] = next[i];
        if (sizes[i] == 0) continue;
        if (done == 0 || next[i] != 0) {  // else the tile holds it
          dispatch_word(static_cast<size_t>(sizes[i]),
                        [&](auto word) { lay_out<decltype(word)>(tiles[i], given[i], i, part); });
        }
        given[i] = tiles[i];
        own_steps[i] = sizes[i];
        own_next[i] = length * sizes[i];
      }
      if (one_by_one) call_for_rows_of(count)(loop, context, given, own_steps, own_next, part, length);
      else loop(context, given, own_steps, part * length);
    }
  }

 private:
  // By a product: a vector that is read from where its words were just written waits for them.
  template <typename Word>
  static WideWord repeat(Word word) {
    if constexpr (std::is_same_v<Word, WideWord>) {
      return word;
    } else {
      constexpr uint64_t kOnes = ~uint64_t{0} / std::numeric_limits<Word>::max();
      return {word * kOnes, word * kOnes};
    }
  }
  template <typename Word>
  void lay_out(char* to, const char* from, int operand, int64_t rows) const {
    const int64_t step = steps[operand];
    constexpr int64_t size = sizeof(Word);
    for (int64_t row = 0; row < rows; ++row, to += length * size, from += next[operand]) {
      if (step == 0) {  // the last vector may go beyond the row's end, where the next one begins
        const WideWord repeated = repeat(*reinterpret_cast<const Word*>(from));
        for (int64_t byte = 0; byte < length * size; byte += kVector) std::memcpy(to + byte, &repeated, kVector);
      } else if (step == size && length * size >= kVector) {
        // In line, as rows are short: the last vector begins earlier.
        for (int64_t byte = 0; byte + kVector < length * size; byte += kVector)
          std::memcpy(to + byte, from + byte, kVector);
        std::memcpy(to + length * size - kVector, from + length * size - kVector, kVector);
      } else {
        for (int64_t i = 0; i < length; ++i)
          reinterpret_cast<Word*>(to)[i] = *reinterpret_cast<const Word*>(from + i * step);
      }
    }
  }
};

}  // namespace

void TensorIterator::serial_loop(Loop loop, void* context, int64_t begin, int64_t end, bool converts) const {
  if (C10_LIKELY(!converts)) return walk(loop, context, begin, end);
  RowConverter converter = convert_rows(*this, loop, context);
  walk(&RowConverter::run, &converter, begin, end);
}

void TensorIterator::swap_dimensions(int a, int b) {
  std::swap(shape_[a], shape_[b]);
  for (int i = 0; i < count_; ++i) std::swap(operands_[i].strides[a], operands_[i].strides[b]);
}

// The dimension, other than the fastest, along which an input's neighbours lie; 0 if there is none, or what lies
// crosswise is not worth a tile.
int TensorIterator::crossing_dimension() const {
  if (ndim() < 2 || shape_[0] < kLeastTile || is_reduction_) return 0;
  for (int i = outputs_; i < count_; ++i) {
    const DimVector& strides = operands_[i].strides;
    const auto size = static_cast<int64_t>(c10::element_size(memory_dtype(i)));
    if (strides[0] == size || strides[0] == 0) continue;
    for (int dim = 1; dim < ndim(); ++dim) {
      if (strides[dim] == size && shape_[dim] >= kLeastTile) return dim;
    }
  }
  return 0;
}

// Inputs whose neighbours lie along dimension 1, as those of a transposed matrix do, are turned round a tile at a time,
// so that whole cache lines are used of them, and the kernel's loop gets rows like any others.
void TensorIterator::run_tiles(Loop loop, void* context, int64_t grain_size, bool converts) const {
  const int count = count_;
  bool is_crossed[kMaxOperands] = {};
  int64_t sizes[kMaxOperands];
  int64_t largest = 1;
  for (int i = outputs_; i < count; ++i) {
    sizes[i] = static_cast<int64_t>(c10::element_size(memory_dtype(i)));
    is_crossed[i] = operands_[i].strides[1] == sizes[i] && operands_[i].strides[0] != sizes[i] &&
                    operands_[i].strides[0] != 0;
    if (is_crossed[i]) largest = std::max(largest, sizes[i]);
  }
  const int64_t most_rows = kTileColumn / largest;
  const int64_t rows_of_tiles = (shape_[1] + most_rows - 1) / most_rows;
  const int64_t tiles_in_row = (shape_[0] + kTileRow - 1) / kTileRow;
  const int64_t planes = numel_ / (shape_[0] * shape_[1]);
  const int64_t grain = std::max<int64_t>(1, grain_size / (most_rows * kTileRow));
  parallel_for(0, planes * rows_of_tiles * tiles_in_row, grain, [&](int64_t first, int64_t last) {
    RowConverter converter = convert_rows(*this, loop, context);
    Loop own = loop;
    if (converts) own = &RowConverter::run;
    void* const own_context = converts ? &converter : context;
    alignas(64) char tiles[kMaxOperands][kTileColumn * kTileRow];
    for (int64_t number = first; number < last; ++number) {
      const int64_t column = number % tiles_in_row * kTileRow;
      const int64_t row = number / tiles_in_row % rows_of_tiles * most_rows;
      const int64_t columns = std::min(kTileRow, shape_[0] - column);
      const int64_t rows = std::min(most_rows, shape_[1] - row);
      char* pointers[kMaxOperands];
      int64_t steps[kMaxOperands];
      int64_t next[kMaxOperands];
      bool continues = true;  // each row goes on where the one before ends
      for (int i = 0; i < count; ++i) {
        const DimVector& strides = operands_[i].strides;
        pointers[i] = data(i) + column * strides[0] + row * strides[1];
        int64_t plane = number / (tiles_in_row * rows_of_tiles);
        for (int dim = 2; dim < ndim(); ++dim) {
          pointers[i] += plane % shape_[dim] * strides[dim];
          plane /= shape_[dim];
        }
        steps[i] = strides[0];
        next[i] = strides[1];
        if (is_crossed[i]) {
          native::cpu::transpose_tile(tiles[i], columns * sizes[i], pointers[i], strides[0], rows, columns, sizes[i]);
          pointers[i] = tiles[i];
          steps[i] = sizes[i];
          next[i] = columns * sizes[i];
        }
        continues &= next[i] == columns * steps[i];
      }
      if (continues) {
        own(own_context, pointers, steps, rows * columns);
        continue;
      }
      for (int64_t left = rows; left > 0; --left) {
        own(own_context, pointers, steps, columns);
        for (int i = 0; i < count; ++i) pointers[i] += next[i];
      }
    }
  });
}

void TensorIterator::walk(Loop loop, void* context, int64_t begin, int64_t end) const {
  if (begin >= end) return;
  const int count = count_;
  const int dims = ndim();
  char* pointers[kMaxOperands] = {};
  int64_t steps[kMaxOperands];
  for (int i = 0; i < count; ++i) {
    pointers[i] = data(i);
    steps[i] = dims > 0 ? operands_[i].strides[0] : 0;
  }
  if (dims <= 1) {
    for (int i = 0; i < count; ++i) pointers[i] += begin * steps[i];
    loop(context, pointers, steps, end - begin);
    return;
  }
  // `position` counts rows and the element within; pointers follow by stepping, without a division per row. A loop gets
  // these themselves, and leaves them as they are.
  DimVector position(shape_.size());
  int64_t rest = begin;
  for (int dim = 0; dim < dims; ++dim) {
    position[dim] = rest % shape_[dim];
    rest /= shape_[dim];
    for (int i = 0; i < count; ++i) pointers[i] += position[dim] * operands_[i].strides[dim];
  }
  int64_t next[kMaxOperands] = {};
  for (int i = 0; i < count; ++i) next[i] = operands_[i].strides[1];
  ShortRows short_rows{count, shape_[0], steps, next, {}, false};
  bool lays_out = shape_[0] <= kShortRow && numel_ > kTiledRow && !is_reduction_;
  int apart = 0;  // inputs to lay out
  int64_t least = sizeof(c10::complex<double>);  // bytes of an input's element
  for (int i = 0; i < count && lays_out; ++i) {
    const auto size = static_cast<int64_t>(c10::element_size(memory_dtype(i)));
    if (i >= outputs_) least = std::min(least, size);
    if (next[i] == shape_[0] * steps[i]) continue;
    short_rows.sizes[i] = size;
    ++apart;
    lays_out = i >= outputs_;
  }
  // Loops take rows of some vectors where they lie, those over one or two inputs also what stays the same in one as a
  // number. For loops over three that is laid out, and nothing else.
  const bool is_plain = loop != static_cast<Loop>(&RowConverter::run);
  if (is_plain && least == 2 && halves_in_memory() != ScalarType::Undefined) {
    lays_out = lays_out && shape_[0] < kHalvesRow;
  } else if (is_plain && least >= 4) {
    lays_out = lays_out && shape_[0] * apart < kNumberRow / least;
    if (!lays_out && count > 3) lays_out = short_rows.lay_out_repeats(*this);
  }
  for (int64_t done = begin; done < end;) {
    // Whole rows one after another, which may be short: nothing else is looked at between them.
    const int64_t rows = position[0] == 0 ? std::min(shape_[1] - position[1], (end - done) / shape_[0]) : 0;
    int64_t left = rows;
    if (lays_out && rows > 2) {
      short_rows.run(loop, context, pointers, rows - 1);
      for (int i = 0; i < count; ++i) pointers[i] += (rows - 1) * next[i];
      left = 1;
    }
    const int64_t whole = shape_[0];
    if (left > 1) {
      call_for_rows_of(count)(loop, context, pointers, steps, next, left - 1, whole);
    }
    if (rows > 1) {
      done += (rows - 1) * shape_[0];
      position[1] += rows - 1;
    }
    const int64_t length = std::min(shape_[0] - position[0], end - done);
    loop(context, pointers, steps, length);
    done += length;
    if (done >= end) break;
    for (int i = 0; i < count; ++i) pointers[i] -= position[0] * steps[i];
    position[0] = 0;
    for (int dim = 1; dim < dims; ++dim) {
      for (int i = 0; i < count; ++i) pointers[i] += operands_[i].strides[dim];
      if (++position[dim] < shape_[dim]) break;
      for (int i = 0; i < count; ++i) pointers[i] -= shape_[dim] * operands_[i].strides[dim];
      position[dim] = 0;
    }
  }
}

bool TensorIterator::can_use_32bit_indexing() const {
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  if (numel_ > limit) return false;
  for (int i = 0; i < count_; ++i) {
    int64_t reach = 1;
    for (int dim = 0; dim < ndim(); ++dim) reach += (shape_[dim] - 1) * std::abs(operands_[i].strides[dim]);
    if (reach > limit) return false;
  }
  return true;
}

TensorIterator TensorIterator::split_off_half() {
  int largest = 0;
  for (int dim = 1; dim < ndim(); ++dim) {
    if (shape_[dim] > shape_[largest]) largest = dim;
  }
  TORCH_INTERNAL_ASSERT(shape_[largest] >= 2);
  TensorIterator first(*this);
  const int64_t half = shape_[largest] / 2;
  first.shape_[largest] = half;
  shape_[largest] -= half;
  for (int i = 0; i < count_; ++i) {
    if (!operands_[i].is_inline) operands_[i].data += half * operands_[i].strides[largest];
  }
  const auto recount = [](TensorIterator& iter) {
    iter.numel_ = 1;
    for (const int64_t size : iter.shape_) iter.numel_ *= size;
  };
  recount(first);
  recount(*this);
  return first;
}

}  // namespace at
