// Tensors with borders. The contract is in PaddedRows.h.

#include <aten/Dispatch.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/PaddedRows.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/pad_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/CopyBytes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename Word>
HWY_INLINE void write_border(Word* out, const Word* row, const PaddedAxis& x, int64_t first, int64_t last,
                             int64_t units) {
  const int64_t* const from = x.from.data();
  if (units == 1) {
    for (int64_t i = first; i < last; ++i) out[i] = row[from[i]];
    return;
  }
  for (int64_t i = first; i < last; ++i) {
    copy_bytes(reinterpret_cast<char*>(out + i * units), reinterpret_cast<const char*>(row + from[i] * units),
               units * static_cast<int64_t>(sizeof(Word)));
  }
}

template <typename Word>
void write_rows(Word* out, const Word* in, int64_t planes, const PaddedAxis (&axes)[3], int64_t units) {
  const auto& [z, y, x] = axes;
  const auto depth = static_cast<int64_t>(z.from.size());
  const auto height = static_cast<int64_t>(y.from.size());
  const auto width = static_cast<int64_t>(x.from.size());
  const int64_t grain = std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, width * units));
  parallel_for(0, planes * depth * height, grain, [&](int64_t first, int64_t last) HWY_ATTR {
    Word* to = out + first * width * units;
    // Counted, not divided, row by row.
    int64_t line = first % height;
    int64_t slice = first / height % depth;
    const Word* plane = in + first / height / depth * z.size * y.size * x.size * units;
    for (int64_t i = first; i < last; ++i, to += width * units) {
      const int64_t from_z = z.from[static_cast<size_t>(slice)];
      const int64_t from_y = y.from[static_cast<size_t>(line)];
      const Word* row = plane + (from_z * y.size + from_y) * x.size * units;
      if (++line == height) {
        line = 0;
        if (++slice == depth) {
          slice = 0;
          plane += z.size * y.size * x.size * units;
        }
      }
      write_border(to, row, x, 0, x.begin, units);
      if (x.begin < x.end) {
        copy_bytes(reinterpret_cast<char*>(to + x.begin * units),
                   reinterpret_cast<const char*>(row + x.from[static_cast<size_t>(x.begin)] * units),
                   (x.end - x.begin) * units * static_cast<int64_t>(sizeof(Word)));
      }
      write_border(to, row, x, x.end, width, units);
    }
  });
}

void PadImpl(char* out, const char* in, int64_t planes, const PaddedAxis (&axes)[3], int64_t units,
             int64_t unit_bytes) {
  dispatch_word(static_cast<size_t>(unit_bytes), [&](auto word) {
    using Word = decltype(word);
    write_rows(reinterpret_cast<Word*>(out), reinterpret_cast<const Word*>(in), planes, axes, units);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(PadImpl);
void write_padded(char* out, const char* in, int64_t planes, const PaddedAxis (&axes)[3], int64_t units,
                  int64_t unit_bytes) {
  HWY_DYNAMIC_DISPATCH(PadImpl)(out, in, planes, axes, units, unit_bytes);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
