#pragma once
// cub::BlockScan for a block of one dimension. As with CUB, a barrier must stand between two uses of one storage.

namespace cub {

template <typename T, int kThreads>
class BlockScan {
 public:
  struct TempStorage {
    T values[kThreads];
    T sums[kThreads];
  };

  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  // The sum of the inputs up to and with this thread's, and that of all.
  void InclusiveSum(T input, T& output, T& total) {
    const unsigned own = threadIdx.x;
    storage_.values[own] = input;
    __syncthreads();
    if (own == 0) {
      T sum = storage_.values[0];
      storage_.sums[0] = sum;
      for (int i = 1; i < kThreads; ++i) storage_.sums[i] = sum = static_cast<T>(sum + storage_.values[i]);
    }
    __syncthreads();
    output = storage_.sums[own];
    total = storage_.sums[kThreads - 1];
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
