// tril and triu.

#include <aten/Kernels.h>
#include <aten/native/cpu/Conversion.h>

#include <cstring>

namespace at::native::cpu {

void triangle_kernel(const Tensor& out, const Tensor& self, int64_t diagonal, bool upper) {
  const int64_t ndim = self.dim();
  const int64_t rows = self.sizes()[ndim - 2];
  const int64_t columns = self.sizes()[ndim - 1];
  const int64_t size = static_cast<int64_t>(self.element_size());
  const int64_t row_step = self.strides()[ndim - 2] * size;
  const int64_t column_step = self.strides()[ndim - 1] * size;
  const auto* in_data = static_cast<const char*>(self.data_ptr());
  auto* out_data = static_cast<char*>(out.data_ptr());  // contiguous
  const int64_t all_rows = self.numel() / std::max<int64_t>(columns, 1);
  parallel_for(
      0, all_rows, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(columns, 1)), [&](int64_t first, int64_t last) {
        int64_t done;  // rows, of one matrix
        for (int64_t index = first; index < last; index += done) {
          const int64_t row = index % rows;
          int64_t offset = row * row_step;
          int64_t rest = index / rows;
          for (int64_t dim = ndim - 3; dim >= 0; --dim) {
            offset += rest % self.sizes()[dim] * self.strides()[dim] * size;
            rest /= self.sizes()[dim];
          }
          // Columns [begin, end) are kept.
          const int64_t border = std::clamp<int64_t>(row + diagonal + (upper ? 0 : 1), 0, columns);
          const int64_t begin = upper ? border : 0;
          const int64_t end = upper ? columns : border;
          char* out_row = out_data + index * columns * size;
          const int64_t left = std::min(last - index, rows - row);
          const bool are_all_alike = upper ? begin == columns : end == columns;  // this row and those below it
          done = are_all_alike && (upper || row_step == columns * column_step) ? left : 1;
          std::memset(out_row, 0, static_cast<size_t>(begin * done * size));
          const char* in_row = in_data + offset + begin * column_step;
          move_row(in_row, column_step, out_row + begin * size, size, (end - begin) * done, size);
          std::memset(out_row + end * size, 0, static_cast<size_t>((columns - end) * size));
        }
      });
}

}  // namespace at::native::cpu
