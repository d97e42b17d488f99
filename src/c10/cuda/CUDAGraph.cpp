#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGenerator.h>
#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include <atomic>
#include <mutex>
#include <string>

namespace c10::cuda {

namespace {

std::atomic<int> recorded_graphs{0};

cudaStreamCaptureMode mode_named(const std::string& name) {
  if (name == "global") return cudaStreamCaptureModeGlobal;
  if (name == "thread_local") return cudaStreamCaptureModeThreadLocal;
  TORCH_CHECK(name == "relaxed", "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got ",
              name);
  return cudaStreamCaptureModeRelaxed;
}

class Graph final : public DeviceGraph {
 public:
  ~Graph() override {
    try {
      forget();
    } catch (const Error&) {  // a device that a kernel has broken
      cudaGetLastError();
    }
  }

  void begin(MemoryPool pool, const std::string& mode) override {
    TORCH_CHECK(
        !has_record_,
        "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance.");
    const cudaStreamCaptureMode chosen = mode_named(mode);
    stream_ = current_stream();
    device_ = current_device();
    TORCH_CHECK(stream_ != nullptr,
                "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay ",
                "them on the default stream.)");
    generator_ = default_generator(device_);
    random_state_ = caching_allocator()->allocate(2 * sizeof(uint64_t));
    pool_ = pool;
    hold_pool(pool_);
    ++recorded_graphs;
    is_recording_ = true;
    const cudaError_t error = cudaStreamBeginCapture(stream_, chosen);
    if (error != cudaSuccess) {
      stop_recording();
      C10_CUDA_CHECK(error);
    }
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaStreamGetCaptureInfo(stream_, &status, &capture_));
    redirect(device_, pool_, capture_);
    generator().begin_recording(static_cast<const uint64_t*>(random_state_.get()));
  }

  void end() override {
    TORCH_CHECK(is_recording_ && current_stream() == stream_, "Capture must end on the same stream it began on.");
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph_);
    end_redirect(device_, capture_);
    numbers_drawn_ = generator().end_recording();
    stop_recording();
    C10_CUDA_CHECK(error);
    TORCH_CHECK(graph_ != nullptr, "Invalid capture.");
    has_record_ = true;
  }

  void instantiate() override {
    TORCH_CHECK(has_record_, "Called CUDAGraph::instantiate without a preceding successful capture.");
    if (executable_ == nullptr) C10_CUDA_CHECK(cudaGraphInstantiate(&executable_, graph_, 0));
  }

  void replay() override {
    TORCH_CHECK(has_record_, "Called CUDAGraph::replay without a preceding successful capture.");
    instantiate();
    const DeviceGuard guard(Device(kCUDA, device_));
    const cudaStream_t stream = current_stream();
    if (numbers_drawn_ > 0) {
      const std::lock_guard<std::mutex> lock(generator().mutex);
      const PhiloxState now = generator().reserve(numbers_drawn_);
      const uint64_t state[2] = {now.seed, now.offset};
      // From memory that is not pinned the copy is taken over before the call returns.
      C10_CUDA_CHECK(cudaMemcpyAsync(random_state_.get(), state, sizeof(state), cudaMemcpyHostToDevice, stream));
    }
    C10_CUDA_CHECK(cudaGraphLaunch(executable_, stream));
  }

  void reset() override { forget(); }

 private:
  cudaStream_t stream_ = nullptr;
  DeviceIndex device_ = 0;
  intrusive_ptr<GeneratorImpl> generator_;
  DataPtr random_state_;  // seed and offset, read by recorded kernels
  uint64_t numbers_drawn_ = 0;
  MemoryPool pool_ = 0;
  unsigned long long capture_ = 0;
  bool is_recording_ = false;
  bool has_record_ = false;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;

  CUDAGenerator& generator() { return static_cast<CUDAGenerator&>(*generator_); }

  void stop_recording() {
    is_recording_ = false;
    --recorded_graphs;
  }

  void forget() {
    if (is_recording_) {  // left by an exception
      cudaGraph_t unfinished = nullptr;
      if (cudaStreamEndCapture(stream_, &unfinished) != cudaSuccess) cudaGetLastError();
      if (unfinished) cudaGraphDestroy(unfinished);
      end_redirect(device_, capture_);
      generator().end_recording();
      stop_recording();
    }
    if (executable_) C10_CUDA_CHECK(cudaGraphExecDestroy(executable_));
    executable_ = nullptr;
    if (graph_) C10_CUDA_CHECK(cudaGraphDestroy(graph_));
    graph_ = nullptr;
    has_record_ = false;
    if (pool_ != 0) release_pool(pool_);
    pool_ = 0;
    random_state_.clear();
  }
};

}  // namespace

std::unique_ptr<DeviceGraph> new_graph() { return std::make_unique<Graph>(); }
bool graphs_are_recorded() { return recorded_graphs.load(std::memory_order_relaxed) > 0; }

bool is_capturing() {
  if (!graphs_are_recorded()) return false;
  const cudaStream_t stream = current_stream();
  if (stream == nullptr) return false;  // the default stream never is, and must not be asked
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace c10::cuda
