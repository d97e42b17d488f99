#pragma once
// cub::BlockRadixSort for a block of one dimension: stable, by some bits of unsigned keys. As with CUB, a barrier must
// stand between two uses of one storage.

namespace cub {

template <typename Key, int kThreads, int kItems, typename Value>
class BlockRadixSort {
 public:
  struct TempStorage {
    Key keys[2][kThreads * kItems];
    Value values[2][kThreads * kItems];
    int sorted;  // which of both
  };

  explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

  // Each thread gives neighbours, and gets what is kThreads apart.
  void SortBlockedToStriped(Key (&keys)[kItems], Value (&values)[kItems], int begin_bit, int end_bit) {
    const unsigned own = threadIdx.x;
    for (int i = 0; i < kItems; ++i) {
      storage_.keys[0][own * kItems + i] = keys[i];
      storage_.values[0][own * kItems + i] = values[i];
    }
    __syncthreads();
    if (own == 0) sort(begin_bit, end_bit);
    __syncthreads();
    for (int i = 0; i < kItems; ++i) {
      keys[i] = storage_.keys[storage_.sorted][own + i * kThreads];
      values[i] = storage_.values[storage_.sorted][own + i * kThreads];
    }
  }

 private:
  // Eight bits at a time.
  void sort(int begin_bit, int end_bit) {
    constexpr int kCount = kThreads * kItems;
    int from = 0;
    for (int bit = begin_bit; bit < end_bit; bit += 8, from ^= 1) {
      const Key mask = (Key{1} << min(8, end_bit - bit)) - 1;
      int places[256] = {};
      for (int i = 0; i < kCount; ++i) ++places[storage_.keys[from][i] >> bit & mask];
      for (int digit = 0, sum = 0; digit < 256; ++digit) {
        const int count = places[digit];
        places[digit] = sum;
        sum += count;
      }
      for (int i = 0; i < kCount; ++i) {
        const int place = places[storage_.keys[from][i] >> bit & mask]++;
        storage_.keys[from ^ 1][place] = storage_.keys[from][i];
        storage_.values[from ^ 1][place] = storage_.values[from][i];
      }
    }
    storage_.sorted = from;
  }

  TempStorage& storage_;
};

}  // namespace cub
