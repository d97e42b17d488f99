#include "graphs.h"

#include "memory.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

namespace cuda_emulation {

namespace {

struct Recorder {
  std::shared_ptr<Recording> recording;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
};

struct Recordings {
  std::mutex mutex;
  std::map<cudaStream_t, std::shared_ptr<Recording>> streams;
  std::map<cudaStream_t, Recorder> begun;  // by the stream on which it began
  uint64_t last = 0;
  std::atomic<int> count{0};
};

Recordings& recordings() {
  static auto* recordings = new Recordings();
  return *recordings;
}

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

using Works = std::shared_ptr<const std::vector<Work>>;
Works& works_of(cudaGraph_t graph) { return *reinterpret_cast<Works*>(graph); }
Works& works_of(cudaGraphExec_t executable) { return *reinterpret_cast<Works*>(executable); }

}  // namespace

std::shared_ptr<Recording> recording_of(cudaStream_t stream) {
  Recordings& all = recordings();
  if (all.count == 0) return nullptr;
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.streams.find(stream);
  return found == all.streams.end() ? nullptr : found->second;
}

bool is_recorded(cudaStream_t stream) { return recording_of(stream) != nullptr; }

void join_recording(cudaStream_t stream, const std::shared_ptr<Recording>& recording) {
  const std::lock_guard<std::mutex> lock(recordings().mutex);
  recordings().streams[stream] = recording;
}

cudaError_t refuse_while_recorded() {
  Recordings& all = recordings();
  if (all.count == 0 || mode_of_thread == cudaStreamCaptureModeRelaxed || on_executor()) return cudaSuccess;
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (auto& [stream, recorder] : all.begun) {
    const bool own = recorder.thread == std::this_thread::get_id();
    if (recorder.mode == cudaStreamCaptureModeGlobal || (recorder.mode == cudaStreamCaptureModeThreadLocal && own)) {
      recorder.recording->is_broken = true;
      return cudaErrorStreamCaptureUnsupported;
    }
  }
  return cudaSuccess;
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (const cudaError_t error = device_error(current_device())) return fail_call(error);
  Recordings& all = recordings();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (stream == nullptr || all.streams.count(stream)) return fail_call(cudaErrorStreamCaptureUnsupported);
  auto recording = std::make_shared<Recording>();
  recording->number = ++all.last;
  all.streams[stream] = recording;
  all.begun[stream] = {recording, mode, std::this_thread::get_id()};
  ++all.count;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  Recordings& all = recordings();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto begun = all.begun.find(stream);
  if (begun == all.begun.end()) return fail_call(cudaErrorInvalidValue);
  const std::shared_ptr<Recording> recording = begun->second.recording;
  recording->has_ended = true;
  all.begun.erase(begun);
  --all.count;
  for (auto one = all.streams.begin(); one != all.streams.end();)
    one = one->second == recording ? all.streams.erase(one) : std::next(one);
  if (recording->is_broken) return fail_call(cudaErrorStreamCaptureInvalidated);
  *graph =
      reinterpret_cast<cudaGraph_t>(new Works(std::make_shared<const std::vector<Work>>(std::move(recording->works))));
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* number) {
  const auto recording = recording_of(stream);
  *status = !recording             ? cudaStreamCaptureStatusNone
            : recording->is_broken ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
  if (number) *number = recording ? recording->number : 0;
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(new Works(works_of(graph)));
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return enqueue(stream, [works = works_of(executable)] {
    for (const Work& work : *works) {
      if (const cudaError_t error = work()) return error;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete &works_of(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete &works_of(executable);
  return cudaSuccess;
}
