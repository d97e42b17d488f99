// Work on several streams: what an event orders, what nothing orders, and when memory is used again. Each is done many
// times, since a device, and its emulation, may run unordered work in either order.

#include <aten/helpers.h>

#include <aten/Plugin.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

using c10::cuda::current_stream;
using c10::cuda::Event;
using c10::cuda::StreamGuard;

namespace {

constexpr int kTimes = 40;
const at::TensorOptions kOnDevice = at::TensorOptions(at::kFloat).device(at::Device(at::kCUDA, 0));

struct Streams {
  cudaStream_t first = c10::cuda::stream_from_pool(0);
  cudaStream_t second = c10::cuda::stream_from_pool(0);
};

float number(const at::Tensor& tensor) { return tensor.item<float>(); }

}  // namespace

TEST(an_event_orders_two_streams) {
  CHECK(at::cuda_available());
  const Streams streams;
  CHECK(streams.first != streams.second);
  for (int time = 0; time < kTimes; ++time) {
    at::Tensor x = at::zeros({300}, kOnDevice);
    c10::cuda::synchronize(0);
    Event ready;
    {
      const StreamGuard guard(streams.first);
      for (int i = 0; i < 5; ++i) x.add_(1);
      ready.record(streams.first);
    }
    at::Tensor sum;
    {
      const StreamGuard guard(streams.second);
      ready.wait(streams.second);
      sum = at::sum(x);
      CHECK_EQ(number(sum), 1500.0f);
    }
    c10::cuda::synchronize(0);
  }
}

TEST(kernels_run_on_the_current_stream) {
  const Streams streams;
  at::Tensor x = at::zeros({4}, kOnDevice);
  c10::cuda::synchronize(0);
  const StreamGuard guard(streams.first);
  CHECK(current_stream(0) == streams.first);
  x.add_(1);
  Event done;
  done.record(streams.first);
  done.synchronize();  // of this stream only: work that went elsewhere may not be done
  const StreamGuard other(streams.second);
  CHECK_EQ(number(at::sum(x)), 4.0f);
}

TEST(memory_that_another_stream_reads_is_not_used_again_before) {
  const Streams streams;
  for (int time = 0; time < kTimes; ++time) {
    at::Tensor sum;
    at::Tensor x;
    {
      const StreamGuard guard(streams.first);
      x = at::ones({1000}, kOnDevice);
      c10::cuda::synchronize(0);
    }
    {
      const StreamGuard guard(streams.second);
      c10::cuda::record_stream(x.data_ptr(), streams.second);
      sum = at::sum(x);
    }
    {
      const StreamGuard guard(streams.first);
      x = at::Tensor();
      const at::Tensor next = at::full({1000}, 7.0, kOnDevice);
      const StreamGuard other(streams.second);
      CHECK_EQ(number(sum), 1000.0f);
    }
    c10::cuda::synchronize(0);
  }
}

TEST(freed_memory_is_used_again_on_its_own_stream) {
  c10::cuda::empty_cache();
  const auto count_allocations = [] {
    for (const auto& [name, value] : c10::cuda::memory_numbers(0)) {
      if (name == "num_device_alloc") return value;
    }
    return int64_t{-1};
  };
  const auto allocations = count_allocations();
  CHECK(allocations >= 0);
  for (int time = 0; time < kTimes; ++time) CHECK_EQ(number(at::sum(at::ones({1000}, kOnDevice))), 1000.0f);
  const auto made = count_allocations() - allocations;
  CHECK(made <= 2 || std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") != nullptr);
}

TEST(events_tell_time_and_whether_they_have_passed) {
  Event start(true), end(true);
  start.record(current_stream(0));
  at::Tensor x = at::ones({5000}, kOnDevice);
  for (int i = 0; i < 3; ++i) x.mul_(2);
  end.record(current_stream(0));
  int asked = 0;
  while (!end.query()) ++asked;
  CHECK(end.elapsed_since(start) >= 0);
  CHECK_EQ(number(at::sum(x)), 40000.0f);
}

TEST_MAIN()
