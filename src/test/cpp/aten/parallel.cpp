#include <aten/Parallel.h>
#include <torch/torch.h>

#include <aten/helpers.h>

#include <atomic>
#include <thread>

TEST(parts_cover_the_range_once) {
  at::set_num_threads(3);
  CHECK_EQ(at::get_num_threads(), 3);
  std::vector<std::atomic<int>> seen(1000);
  at::parallel_for(0, 1000, 10, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) ++seen[static_cast<size_t>(i)];
  });
  for (const auto& count : seen) CHECK_EQ(count.load(), 1);
  CHECK_THROWS(c10::Error, at::set_num_threads(0), "positive integer");
}

TEST(errors_cross_threads) {
  at::set_num_threads(2);
  CHECK_THROWS(c10::ValueError, at::parallel_for(0, 1000, 1,
                                [](int64_t first, int64_t) {
                                  if (first > 0) throw c10::ValueError("from a thread");
                                }), "from a thread");
  // A kernel that fails in a thread.
  at::Tensor divisors = at::ones({200000}, at::kLong);
  divisors[199999].fill_(0);
  CHECK_THROWS(c10::Error, at::floor_divide(at::ones({200000}, at::kLong), divisors), "ZeroDivisionError");
}

TEST(inside_a_region_loops_are_serial) {
  at::set_num_threads(2);
  std::atomic<bool> nested{true};
  at::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    if (!at::in_parallel_region()) nested = false;
  });
  CHECK(nested.load());
}

TEST(each_thread_has_its_own_number) {
  at::set_num_threads(3);
  int found = 0;
  std::thread([&] {
    found = at::get_num_threads();
    at::set_num_threads(1);
  }).join();
  CHECK_EQ(found, 3);  // what was said before it asked
  CHECK_EQ(at::get_num_threads(), 3);
}

TEST_MAIN()
