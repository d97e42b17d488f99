#pragma once
// cub::BlockScan for a block of one dimension. As with CUB, a barrier must stand between two uses of one storage.

namespace cub {

template <typename T, int kThreads>
class BlockScan {
 public:
  struct TempStorage {
    T values[kThreads];
  };

  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  // The inputs up to and with this thread's, combined, and all of them.
  template <typename Combine>
  void InclusiveScan(T input, T& output, Combine combine, T& total) {
    const unsigned own = threadIdx.x;
    storage_.values[own] = input;
    __syncthreads();
    if (own == 0) {
      for (int i = 1; i < kThreads; ++i) storage_.values[i] = combine(storage_.values[i - 1], storage_.values[i]);
    }
    __syncthreads();
    output = storage_.values[own];
    total = storage_.values[kThreads - 1];
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
