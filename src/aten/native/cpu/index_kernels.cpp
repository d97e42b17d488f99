// Reading and writing rows that index tensors name. Contracts are in kernels.yaml.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/AddHalves.h>
#include <aten/native/cpu/CopyWords.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace at::native::cpu {

namespace {

// Where each index position leads in a tensor whose first dimensions the indices are for, in elements.
std::vector<int64_t> indexed_offsets(const Tensor& self, TensorList indices) {
  const int64_t count = indices[0].numel();
  std::vector<int64_t> offsets(count, 0);
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const Tensor dense = at::detail::to_contiguous(indices[dim]);
    const int64_t* index = dense.data_ptr<int64_t>();
    const int64_t size = self.sizes()[dim];
    const int64_t stride = self.strides()[dim];
    bool is_inside = true;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t position = index[i] + (index[i] < 0 ? size : 0);
      is_inside &= static_cast<uint64_t>(position) < static_cast<uint64_t>(size);
      offsets[i] += position * stride;
    }
    for (int64_t i = 0; !is_inside; ++i) {
      TORCH_CHECK_INDEX(index[i] >= -size && index[i] < size, "index ", index[i], " is out of bounds for dimension ",
                        dim, " with size ", size);
    }
  }
  return offsets;
}

// One index into a vector: an element's place is looked at when it is read, and kept nowhere. False if one is outside.
template <typename Word>
bool take_elements(const Tensor& out, const Tensor& self, const Tensor& index) {
  const auto* const from = static_cast<const Word*>(self.data_ptr());
  auto* const to = static_cast<Word*>(out.data_ptr());
  const int64_t* const places = index.data_ptr<int64_t>();
  const int64_t size = self.numel();
  const int64_t stride = self.strides()[0];
  std::atomic<bool> is_inside{true};
  parallel_for(0, index.numel(), kGrainSize, [&](int64_t first, int64_t last) {
    bool all_inside = true;
    for (int64_t i = first; i < last; ++i) {
      const int64_t place = places[i] + (places[i] < 0 ? size : 0);
      const bool inside = static_cast<uint64_t>(place) < static_cast<uint64_t>(size);
      all_inside &= inside;
      to[i] = from[inside ? place * stride : 0];
    }
    if (!all_inside) is_inside = false;
  });
  return is_inside;
}

// How many elements each position of `indices` has in a tensor, if these are its last dimensions and lie side by side
// in it; else 0.
int64_t length_of_rows(const Tensor& self, size_t indexed) {
  int64_t length = 1;
  for (int64_t dim = self.dim() - 1; dim >= static_cast<int64_t>(indexed); --dim) {
    if (self.sizes()[dim] != 1 && self.strides()[dim] != length) return 0;
    length *= self.sizes()[dim];
  }
  return length;
}

// Several indices, or one into the rows of a table, the same way, some places at a time. An index that repeats, as rows
// and columns of a block do, is read as it lies.
bool take_rows(const Tensor& out, const Tensor& self, TensorList indices, int64_t length) {
  constexpr int64_t kPlaces = 512;
  const auto* const from = static_cast<const char*>(self.data_ptr());
  auto* const to = static_cast<char*>(out.data_ptr());
  const auto size_of_element = static_cast<int64_t>(self.element_size());
  const int64_t bytes = length * size_of_element;
  const Tensor& first_index = indices[0];
  const int64_t dims = first_index.dim();
  const bool are_dense = std::all_of(indices.begin(), indices.end(), [](const Tensor& t) { return t.is_contiguous(); });
  const int64_t columns = are_dense || dims == 0 ? first_index.numel() : first_index.sizes()[dims - 1];
  const int64_t parts = (columns + kPlaces - 1) / kPlaces;  // of a line of indices
  const int64_t lines = first_index.numel() / columns;
  std::atomic<bool> is_inside{true};
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (length * std::min(kPlaces, columns)));
  parallel_for(0, lines * parts, grain, [&](int64_t begin, int64_t end) {
    int64_t offsets[kPlaces];
    for (int64_t number = begin; number < end; ++number) {
      const int64_t line = number / parts;
      const int64_t column = number % parts * kPlaces;
      const int64_t count = std::min(kPlaces, columns - column);
      const char* base = from;
      bool all_inside = true;
      bool has_offsets = false;
      for (size_t dim = 0; dim < indices.size(); ++dim) {
        const Tensor& index = indices[dim];
        const int64_t step = are_dense ? 1 : index.strides()[dims - 1];
        const int64_t* places = index.data_ptr<int64_t>() + column * step;
        int64_t rest = line;
        for (int64_t i = dims - 2; i >= 0 && !are_dense; --i) {
          places += rest % index.sizes()[i] * index.strides()[i];
          rest /= index.sizes()[i];
        }
        const int64_t size = self.sizes()[static_cast<int64_t>(dim)];
        const int64_t stride = self.strides()[static_cast<int64_t>(dim)] * size_of_element;
        if (step == 0) {
          const int64_t place = *places + (*places < 0 ? size : 0);
          all_inside &= static_cast<uint64_t>(place) < static_cast<uint64_t>(size);
          base += all_inside ? place * stride : 0;
          continue;
        }
        if (!has_offsets) std::fill_n(offsets, count, int64_t{0});
        has_offsets = true;
        for (int64_t i = 0; i < count; ++i) {
          const int64_t place = places[i * step] + (places[i * step] < 0 ? size : 0);
          all_inside &= static_cast<uint64_t>(place) < static_cast<uint64_t>(size);
          offsets[i] += place * stride;
        }
      }
      if (!has_offsets) std::fill_n(offsets, count, int64_t{0});
      if (!all_inside) {
        is_inside = false;
        return;
      }
      char* const target = to + (line * columns + column) * bytes;
      if (length == 1) {
        dispatch_word(static_cast<size_t>(bytes), [&](auto word) {
          constexpr int64_t size = sizeof(word);
          for (int64_t i = 0; i < count; ++i) std::memcpy(target + i * size, base + offsets[i], size);
        });
      } else {
        for (int64_t i = 0; i < count; ++i) copy_row(target + i * bytes, base + offsets[i], bytes);
      }
    }
  });
  return is_inside;
}

// Of each line `count` pieces, from offsets to equal steps. With its own arguments, which bytes that are written cannot
// change.
C10_NOINLINE void copy_pieces(char* to, const char* from, int64_t lines, int64_t step_to, int64_t step_from,
                              const int64_t* offsets, int64_t count, int64_t piece, int64_t bytes) {
  for (; lines > 0; --lines, to += step_to, from += step_from) {
    for (int64_t i = 0; i < count; ++i) copy_row(to + i * piece, from + offsets[i], bytes);
  }
}

// Pieces of another dimension than the first, as index_select takes them: dimensions behind the index are one that is
// gone through in equal steps, and what lies side by side. False if they are not, or an index is outside.
bool take_pieces(const Tensor& out, const Tensor& self, const Tensor& index) {
  if (index.dim() != 1 || self.numel() == 0) return false;
  int64_t length = 1;
  int64_t dim = self.dim() - 1;
  for (; dim > 0; --dim) {
    if (self.sizes()[dim] == 1) continue;
    if (self.strides()[dim] != length || out.strides()[dim] != length) break;
    length *= self.sizes()[dim];
  }
  int64_t before = dim - 1;
  while (before > 0 && self.sizes()[before] == 1) --before;
  if (dim < 1 || before > 0 || length == 1) return false;
  const int64_t count = index.numel();
  const auto size_of_element = static_cast<int64_t>(self.element_size());
  std::vector<int64_t> offsets(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = index.data_ptr<int64_t>()[i * index.strides()[0]];
    if (place < 0) place += self.sizes()[0];
    if (place < 0 || place >= self.sizes()[0]) return false;
    offsets[static_cast<size_t>(i)] = place * self.strides()[0] * size_of_element;
  }
  const auto* const from = static_cast<const char*>(self.data_ptr());
  auto* const to = static_cast<char*>(out.data_ptr());
  const int64_t step_from = self.strides()[dim] * size_of_element;
  const int64_t step_to = out.strides()[dim] * size_of_element;
  const int64_t piece = out.strides()[0] * size_of_element;
  const int64_t bytes = length * size_of_element;
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (length * count));
  parallel_for(0, self.sizes()[dim], grain, [&](int64_t first, int64_t last) {
    copy_pieces(to + first * step_to, from + first * step_from, last - first, step_to, step_from, offsets.data(), count,
                piece, bytes);
  });
  return true;
}

// The same as of elements, the other way: body(an element of the vector, the value that goes there). Throws when all
// others are done.
template <typename T, typename Body>
void put_elements(const Tensor& self, const Tensor& index, const Tensor& values, bool may_meet, Body&& body) {
  auto* const to = static_cast<T*>(self.data_ptr());
  const auto* const from = static_cast<const T*>(values.data_ptr());
  const int64_t* const places = index.data_ptr<int64_t>();
  const int64_t size = self.numel();
  const int64_t stride = self.strides()[0];
  const int64_t count = index.numel();
  parallel_for(0, count, may_meet ? count : kGrainSize, [&](int64_t first, int64_t last) {
    int64_t outside = last;
    for (int64_t i = first; i < last; ++i) {
      const int64_t place = places[i] + (places[i] < 0 ? size : 0);
      if (C10_LIKELY(static_cast<uint64_t>(place) < static_cast<uint64_t>(size))) body(to[place * stride], from[i]);
      else outside = i;
    }
    TORCH_CHECK_INDEX(outside == last, "index ", places[outside], " is out of bounds for dimension 0 with size ", size);
  });
}

// Offsets of dimensions [first, last) of `tensor`, in row-major order, in elements.
std::vector<int64_t> dense_offsets(const Tensor& tensor, int64_t first, int64_t last) {
  std::vector<int64_t> offsets{0};
  for (int64_t dim = first; dim < last; ++dim) {
    const int64_t size = tensor.sizes()[dim];
    std::vector<int64_t> longer(offsets.size() * static_cast<size_t>(size));
    int64_t* next = longer.data();
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < size; ++i) next[i] = offset + i * tensor.strides()[dim];
      next += size;
    }
    offsets = std::move(longer);
  }
  return offsets;
}

// Two tensors that have the same last dimensions, seen as positions (by index) times rows (the last
// dimensions, merged where both allow it).
struct Rows {
  std::vector<int64_t> indexed;        // offsets of positions in the indexed tensor
  std::vector<int64_t> dense;          // and in the other one
  std::vector<int64_t> indexed_outer;  // offsets of rows within a position, but for their innermost run
  std::vector<int64_t> dense_outer;
  int64_t length = 1;  // of the innermost run
  int64_t indexed_stride = 1;
  int64_t dense_stride = 1;
  int64_t position_stride = 0;  // of neighbouring positions in the indexed tensor, where one index tells them
};

Rows make_rows(const Tensor& self, TensorList indices, const Tensor& other) {
  Rows rows;
  rows.indexed = indexed_offsets(self, indices);
  const int64_t index_dims = indices[0].dim();
  rows.dense = dense_offsets(other, 0, index_dims);
  const auto first = static_cast<int64_t>(indices.size());
  if (first == 1) rows.position_stride = std::abs(self.strides()[0]);
  const int64_t rest = self.dim() - first;
  int64_t dim = rest - 1;
  for (; dim >= 0; --dim) {
    const int64_t size = self.sizes()[first + dim];
    const int64_t indexed_stride = self.strides()[first + dim];
    const int64_t dense_stride = other.strides()[index_dims + dim];
    if (size == 1) continue;
    if (rows.length == 1) {
      rows.indexed_stride = indexed_stride;
      rows.dense_stride = dense_stride;
    } else if (indexed_stride != rows.length * rows.indexed_stride ||
               dense_stride != rows.length * rows.dense_stride) {
      break;
    }
    rows.length *= size;
  }
  rows.indexed_outer = dense_offsets(self, first, first + dim + 1);
  rows.dense_outer = dense_offsets(other, index_dims, index_dims + dim + 1);
  return rows;
}

// body(indexed offset, dense offset, elements) over parts of positions.
template <typename Body>
void for_each_row(const Rows& rows, int64_t first, int64_t last, Body&& body) {
  const int64_t* const indexed = rows.indexed.data();  // nothing that is written can change these
  const int64_t* const dense = rows.dense.data();
  for (size_t outer = 0; outer < rows.indexed_outer.size(); ++outer) {
    const int64_t indexed_outer = rows.indexed_outer[outer];
    const int64_t dense_outer = rows.dense_outer[outer];
    for (int64_t i = first; i < last; ++i) body(indexed[i] + indexed_outer, dense[i] + dense_outer);
  }
}

int64_t grain_of(const Rows& rows) {
  const int64_t work = std::max<int64_t>(1, rows.length * static_cast<int64_t>(rows.indexed_outer.size()));
  return std::max<int64_t>(1, kGrainSize / work);
}

constexpr int64_t kShortestRow = 16;  // elements from which threads own rows

// Than the elements of one position do.
bool positions_lie_closer(const Rows& rows) {
  if (rows.length <= 1 || rows.dense.size() <= 4) return false;
  const int64_t step = std::abs(rows.dense[1] - rows.dense[0]);
  // one value for all
  if (step == 0 && rows.dense_stride == 0) return rows.position_stride < std::abs(rows.indexed_stride);
  return step < std::abs(rows.dense_stride);
}

bool is_consecutive(const std::vector<int64_t>& offsets) {
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] != offsets[0] + static_cast<int64_t>(i)) return false;
  }
  return true;
}

// The thread that each position's row belongs to, as each has written its part of them before: what it adds to is in
// its cache then. None where a thread alone does it, or where positions crowd together.
std::vector<int> owners_of_rows(const Rows& rows) {
  const auto positions = static_cast<int64_t>(rows.indexed.size());
  const int64_t threads = get_num_threads();
  if (threads == 1 || in_parallel_region() || positions_lie_closer(rows)) return {};
  if (rows.length < kShortestRow || positions * rows.length < 2 * kGrainSize) return {};
  const auto [least, greatest] = std::minmax_element(rows.indexed.begin(), rows.indexed.end());
  const int64_t extent = *greatest - *least + 1;
  std::vector<int> owners(rows.indexed.size());
  std::vector<int64_t> shares(static_cast<size_t>(threads));
  for (size_t j = 0; j < owners.size(); ++j) {
    owners[j] = static_cast<int>((rows.indexed[j] - *least) * threads / extent);
    ++shares[static_cast<size_t>(owners[j])];
  }
  const int64_t most = *std::max_element(shares.begin(), shares.end());
  return most * threads * 3 <= positions * 4 ? owners : std::vector<int>();
}

// to[i] += from[i], rounded once each.
template <typename T>
void add_elements(T* to, const T* from, int64_t count) {
  if constexpr (c10::is_reduced_floating_v<T>) {
    add_halves(c10::CppTypeToScalarType<T>::value, to, from, count);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(to[i] + from[i]);
  }
}

// to[i] = from[places[i]], a few at once: a loop's own steps would take as long as the moves.
template <typename Word>
void take_places(const Word* from, const int64_t* places, int64_t count, Word* to) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const Word a = from[places[i]];
    const Word b = from[places[i + 1]];
    const Word c = from[places[i + 2]];
    const Word d = from[places[i + 3]];
    to[i] = a;
    to[i + 1] = b;
    to[i + 2] = c;
    to[i + 3] = d;
  }
  for (; i < count; ++i) to[i] = from[places[i]];
}

// Columns [0, count) of `height` elements, which begin at `places` and lie side by side, as rows `step` elements apart.
// Through a small buffer: columns are often a power of two apart, and would push each other out of the cache.
template <typename Word>
void take_columns(const Word* from, const int64_t* places, int64_t count, int64_t height, Word* to, int64_t step) {
  constexpr int64_t kBlock = 32;
  Word buffer[kBlock * kBlock];
  for (int64_t row = 0; row < height; row += kBlock) {
    const int64_t rows = std::min(kBlock, height - row);
    for (int64_t column = 0; column < count; column += kBlock) {
      const int64_t columns = std::min(kBlock, count - column);
      for (int64_t i = 0; i < columns; ++i) {
        const Word* source = from + places[column + i] + row;
        if (rows == kBlock) std::memcpy(buffer + i * kBlock, source, kBlock * sizeof(Word));
        else std::copy_n(source, rows, buffer + i * kBlock);
      }
      for (int64_t i = 0; i < rows; ++i) {
        Word* line = to + (row + i) * step + column;
        for (int64_t j = 0; j < columns; ++j) line[j] = buffer[j * kBlock + i];
      }
    }
  }
}

// Copies without regard to what the bytes mean: `Word` has the element's size.
template <typename Word>
void copy_rows(const Rows& rows, const Word* from, Word* to, const int64_t* from_strides, bool from_indexed) {
  const int64_t step_from = from_strides[0];
  const int64_t step_to = from_strides[1];
  const auto positions = static_cast<int64_t>(rows.indexed.size());
  if (positions_lie_closer(rows)) {  // element after element, and all positions within each
    const int64_t* source = (from_indexed ? rows.indexed : rows.dense).data();
    const int64_t* target = (from_indexed ? rows.dense : rows.indexed).data();
    const bool writes_in_order = from_indexed && is_consecutive(rows.dense);
    parallel_for(0, rows.length, std::max<int64_t>(1, kGrainSize / positions), [&](int64_t first, int64_t last) {
      for (size_t outer = 0; outer < rows.indexed_outer.size(); ++outer) {
        const Word* base = from + (from_indexed ? rows.indexed_outer : rows.dense_outer)[outer];
        Word* out = to + (from_indexed ? rows.dense_outer : rows.indexed_outer)[outer];
        if (writes_in_order && step_from == 1) {
          take_columns(base + first, source, positions, last - first, out + target[0] + first * step_to, step_to);
          continue;
        }
        for (int64_t i = first; i < last; ++i) {
          const Word* element = base + i * step_from;
          if (writes_in_order) {
            take_places(element, source, positions, out + target[0] + i * step_to);
          } else {
            for (int64_t j = 0; j < positions; ++j) out[target[j] + i * step_to] = element[source[j]];
          }
        }
      }
    });
    return;
  }
  parallel_for(0, positions, grain_of(rows),
               [&](int64_t first, int64_t last) {
                 if (rows.length == 1) {
                   const int64_t* source = (from_indexed ? rows.indexed : rows.dense).data();
                   const int64_t* target = (from_indexed ? rows.dense : rows.indexed).data();
                   for (size_t outer = 0; outer < rows.indexed_outer.size(); ++outer) {
                     const Word* base = from + (from_indexed ? rows.indexed_outer : rows.dense_outer)[outer];
                     Word* out = to + (from_indexed ? rows.dense_outer : rows.indexed_outer)[outer];
                     for (int64_t i = first; i < last; ++i) out[target[i]] = base[source[i]];
                   }
                   return;
                 }
                 const int64_t count = rows.length;
                 const bool is_dense = step_from == 1 && step_to == 1;
                 for_each_row(rows, first, last, [=](int64_t indexed, int64_t dense) {
                   const Word* source = from + (from_indexed ? indexed : dense);
                   Word* target = to + (from_indexed ? dense : indexed);
                   if (is_dense) {
                     copy_row(target, source, count * static_cast<int64_t>(sizeof(Word)));
                   } else {
                     for (int64_t i = 0; i < count; ++i) target[i * step_to] = source[i * step_from];
                   }
                 });
               });
}

}  // namespace

void index_kernel(const Tensor& out, const Tensor& self, TensorList indices) {
  const int64_t length = out.is_contiguous() && self.numel() > 0 ? length_of_rows(self, indices.size()) : 0;
  if (length > 0) {
    bool is_inside = true;
    const bool is_vector = self.dim() == 1 && indices[0].is_contiguous();
    if (is_vector) {
      dispatch_word(out.element_size(),
                    [&](auto word) { is_inside = take_elements<decltype(word)>(out, self, indices[0]); });
    } else {
      is_inside = take_rows(out, self, indices, length);
    }
    if (is_inside) return;  // otherwise what follows says which is not
  }
  if (indices.size() == 1 && take_pieces(out, self, indices[0])) return;
  const Rows rows = make_rows(self, indices, out);
  const int64_t strides[2] = {rows.indexed_stride, rows.dense_stride};
  dispatch_word(out.element_size(), [&](auto word) {
    using Word = decltype(word);
    copy_rows(rows, static_cast<const Word*>(self.data_ptr()), static_cast<Word*>(out.data_ptr()), strides,
              /*from_indexed=*/true);
  });
}

void index_put_kernel(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  if (self.dim() == 1 && self.numel() > 0 && values.is_contiguous() && indices[0].is_contiguous()) {
    if (!accumulate) {
      return dispatch_word(self.element_size(), [&](auto word) {
        using Word = decltype(word);
        put_elements<Word>(self, indices[0], values, /*may_meet=*/false, [](Word& to, Word from) { to = from; });
      });
    }
    return dispatch_added_types(self.dtype(), "index_put_", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      put_elements<scalar_t>(self, indices[0], values, /*may_meet=*/true,
                             [](scalar_t& to, scalar_t from) { to = static_cast<scalar_t>(to + from); });
    });
  }
  const Rows rows = make_rows(self, indices, values);
  const auto positions = static_cast<int64_t>(rows.indexed.size());
  if (!accumulate) {
    const int64_t strides[2] = {rows.dense_stride, rows.indexed_stride};
    dispatch_word(self.element_size(), [&](auto word) {
      using Word = decltype(word);
      copy_rows(rows, static_cast<const Word*>(values.data_ptr()), static_cast<Word*>(self.data_ptr()),
                strides, /*from_indexed=*/false);
    });
    return;
  }
  dispatch_added_types(self.dtype(), "index_put_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* target = self.data_ptr<scalar_t>();
    const scalar_t* source = values.data_ptr<scalar_t>();
    const auto add_row = [&](int64_t indexed, int64_t dense, int64_t first, int64_t last) {
      constexpr int64_t kFew = 8;  // not worth the calls of conversions
      if (rows.indexed_stride == 1 && rows.dense_stride == 1 && last - first > kFew) {
        return add_elements(target + indexed + first, source + dense + first, last - first);
      }
      for (int64_t i = first; i < last; ++i) {
        scalar_t& element = target[indexed + i * rows.indexed_stride];
        element = static_cast<scalar_t>(element + source[dense + i * rows.dense_stride]);
      }
    };
    if (const std::vector<int> owners = owners_of_rows(rows); !owners.empty()) {
      return parallel_for(0, get_num_threads(), 1, [&](int64_t begin, int64_t end) {
        for (size_t outer = 0; outer < rows.indexed_outer.size(); ++outer) {
          for (size_t j = 0; j < owners.size(); ++j) {
            if (owners[j] < begin || owners[j] >= end) continue;
            const int64_t indexed = rows.indexed_outer[outer] + rows.indexed[j];
            add_row(indexed, rows.dense_outer[outer] + rows.dense[j], 0, rows.length);
          }
        }
      });
    }
    // Positions may repeat, so threads share out the elements of a row instead.
    parallel_for(0, rows.length, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, positions)),
                 [&](int64_t first, int64_t last) {
                   if (positions_lie_closer(rows)) {
                     for (size_t outer = 0; outer < rows.indexed_outer.size(); ++outer) {
                       for (int64_t i = first; i < last; ++i) {
                         scalar_t* to = target + rows.indexed_outer[outer] + i * rows.indexed_stride;
                         const scalar_t* from = source + rows.dense_outer[outer] + i * rows.dense_stride;
                         for (int64_t j = 0; j < positions; ++j) {
                           scalar_t& element = to[rows.indexed[j]];
                           element = static_cast<scalar_t>(element + from[rows.dense[j]]);
                         }
                       }
                     }
                     return;
                   }
                   for_each_row(rows, 0, positions, [&](int64_t indexed, int64_t dense) {
                     add_row(indexed, dense, first, last);
                   });
                 });
  });
}

void nonzero_kernel(Tensor& out, const Tensor& self) {
  const Tensor dense = at::detail::to_contiguous(self);
  const int64_t dims = self.dim();
  const int64_t count = self.numel();
  dispatch_stored_types(self.dtype(), "nonzero", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* values = dense.data_ptr<scalar_t>();
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += values[i] != scalar_t(0);
    // The numbers of each dimension lie side by side. Every element writes its place, and only those that count move
    // on, until all are found.
    const int64_t step = found;
    const Tensor places = at::detail::empty({dims, step}, kLong, self.device());
    int64_t* place = places.data_ptr<int64_t>();
    const int64_t* const end = place + found;
    const int64_t columns = dims > 0 ? self.sizes()[dims - 1] : 1;
    DimVector row(static_cast<size_t>(std::max<int64_t>(dims, 1)), 0);
    for (int64_t start = 0; start < count && dims > 0; start += columns) {
      for (int64_t column = 0; column < columns && place < end; ++column) {
        for (int64_t dim = 0; dim + 1 < dims; ++dim) place[dim * step] = row[dim];
        place[(dims - 1) * step] = column;
        place += values[start + column] != scalar_t(0) ? 1 : 0;
      }
      for (int64_t dim = dims - 2; dim >= 0 && ++row[dim] == self.sizes()[dim]; --dim) row[dim] = 0;
    }
    out = at::detail::make_view(places, {found, dims}, {1, step}, 0);
  });
}

}  // namespace at::native::cpu
