#include "queue.h"

#include "graphs.h"
#include "memory.h"
#include "random.h"
#include "report.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace cuda_emulation {

namespace {

struct Stream;

// All work of `stream` up to its `count`-th piece.
struct Point {
  Stream* stream = nullptr;
  uint64_t count = 0;
};

struct Piece {
  Work work;
  std::vector<Point> after;
  std::function<bool()> is_ready;  // none: it always is
};

struct Stream {
  int device = 0;
  bool waits_for_default = true;  // and the default stream for it
  std::deque<Piece> pieces;
  uint64_t queued = 0;
  uint64_t done = 0;
};

struct Event {
  Point point;
  bool timed = true;
  bool recorded = false;
  std::shared_ptr<Recording> recording;  // into which it was recorded
  std::chrono::steady_clock::time_point when;
};

bool has_passed(const Point& point) { return point.stream == nullptr || point.stream->done >= point.count; }

struct Queues {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int, Stream*> defaults;
  std::vector<Stream*> streams;  // they live as long as the process: pieces point at them
  std::list<std::function<bool()>> awaited;
  std::map<int, cudaError_t> errors;
  bool running = false;
  pid_t process = getpid();
};

Queues& queues() {
  static auto* queues = new Queues();
  return *queues;
}

thread_local int current = 0;
thread_local bool is_executor = false;

Stream* default_stream(int device) {
  Stream*& stream = queues().defaults[device];
  if (stream == nullptr) {
    stream = new Stream();
    stream->device = device;
    queues().streams.push_back(stream);
  }
  return stream;
}

Stream* resolve(cudaStream_t stream) { return stream ? reinterpret_cast<Stream*>(stream) : default_stream(current); }

bool is_ready(const Stream& stream) {
  if (stream.pieces.empty()) return false;
  for (const Point& point : stream.pieces.front().after) {
    if (!has_passed(point)) return false;
  }
  const auto& is_ready_outside = stream.pieces.front().is_ready;
  return !is_ready_outside || is_ready_outside();
}

std::vector<Stream*> ready_streams() {
  std::vector<Stream*> ready;
  for (Stream* stream : queues().streams) {
    if (is_ready(*stream)) ready.push_back(stream);
  }
  return ready;
}

Stream* choose_ready() {
  const std::vector<Stream*> ready = ready_streams();
  return ready.empty() ? nullptr : ready[random_below(ready.size())];
}

bool somebody_waits() {
  for (const auto& reached : queues().awaited) {
    if (!reached()) return true;
  }
  return false;
}

// One piece of work after another, as long as somebody waits for any.
void execute() {
  is_executor = true;
  Queues& all = queues();
  std::unique_lock<std::mutex> lock(all.mutex);
  while (true) {
    Stream* stream = somebody_waits() ? choose_ready() : nullptr;
    if (stream == nullptr) {
      open_device_memory(false);
      all.running = false;
      all.changed.notify_all();
      all.changed.wait(lock, [&] { return somebody_waits() && choose_ready() != nullptr; });
      continue;
    }
    all.running = true;
    Piece piece = std::move(stream->pieces.front());
    stream->pieces.pop_front();
    const bool broken = all.errors.count(stream->device) != 0;
    lock.unlock();
    cudaError_t error = cudaSuccess;
    if (!broken) {
      open_device_memory(true);
      error = piece.work();
    }
    piece = {};  // what it holds goes before others learn that it is done
    lock.lock();
    if (error != cudaSuccess) all.errors.emplace(stream->device, error);
    ++stream->done;
  }
}

// Waits until `reached`, and lets the executor work for it. Who is `patient` waits for other processes, too.
void await(std::unique_lock<std::mutex>& lock, const std::function<bool()>& reached, bool patient = true) {
  Queues& all = queues();
  static bool started = false;
  if (!started) {
    started = true;
    std::thread(execute).detach();
  }
  const auto own = all.awaited.insert(all.awaited.end(), reached);
  all.changed.notify_all();
  all.changed.wait(lock, [&] { return !all.running && (reached() || (!patient && ready_streams().empty())); });
  all.awaited.erase(own);
}

cudaError_t error_of(int device) {
  const auto found = queues().errors.find(device);
  return found == queues().errors.end() ? cudaSuccess : found->second;
}

// A child of fork has no executor, and no device either.
bool forked() { return getpid() != queues().process; }

bool launches_block() {
  static const bool block = [] {
    const char* given = std::getenv("CUDA_LAUNCH_BLOCKING");
    return given && given[0] == '1';
  }();
  return block;
}

thread_local cudaError_t last_error = cudaSuccess;

Point end_of(Stream* stream) { return {stream, stream->queued}; }

Point add(Stream* stream, Work work, Point also_after = {}, std::function<bool()> is_ready = {}) {
  Piece piece{std::move(work), {}, std::move(is_ready)};
  if (also_after.stream) piece.after.push_back(also_after);
  // The legacy default stream: it waits for the other streams' work, and they for its own.
  Stream* first = default_stream(stream->device);
  if (stream == first) {
    for (Stream* other : queues().streams) {
      if (other != stream && other->device == stream->device && other->waits_for_default)
        piece.after.push_back(end_of(other));
    }
  } else if (stream->waits_for_default) {
    piece.after.push_back(end_of(first));
  }
  stream->pieces.push_back(std::move(piece));
  return {stream, ++stream->queued};
}

cudaError_t add_and_perhaps_run(Stream* stream, Work work, Point also_after = {}) {
  Queues& all = queues();
  std::unique_lock<std::mutex> lock(all.mutex);
  if (const cudaError_t error = error_of(stream->device)) return error;
  const Point point = add(stream, std::move(work), also_after);
  constexpr size_t long_queue = 64;
  if (launches_block() || stream->pieces.size() > long_queue) {
    await(lock, [&] { return has_passed(point); }, launches_block());
  } else if (random_below(4) == 0) {  // some of the queue, from its front
    const Point somewhere{stream, stream->done + random_below(stream->queued - stream->done + 1)};
    await(lock, [&] { return has_passed(somewhere); }, false);
  }
  return error_of(stream->device);
}

}  // namespace

uint64_t random_number() {
  static std::mutex mutex;
  static std::mt19937_64 numbers([] {
    const char* given = std::getenv("CUDA_EMULATION_SEED");
    return given ? std::strtoull(given, nullptr, 10) : uint64_t{0};
  }());
  const std::lock_guard<std::mutex> lock(mutex);
  return numbers();
}

void report_fault(int device, const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::fprintf(stderr, "CUDA emulation: ");
  std::vfprintf(stderr, format, values);
  std::fprintf(stderr, "\n");
  va_end(values);
  break_device(device, cudaErrorIllegalAddress);
}

cudaError_t fail_call(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

int device_count() {
  static const int count = [] {
    const char* given = std::getenv("CUDA_EMULATION_DEVICES");
    return given ? std::atoi(given) : 2;
  }();
  return count;
}

int current_device() { return current; }
void set_current_device(int device) { current = device; }
bool on_executor() { return is_executor; }

cudaError_t device_error(int device) {
  if (forked()) return cudaErrorInitializationError;
  const std::lock_guard<std::mutex> lock(queues().mutex);
  return error_of(device);
}

void break_device(int device, cudaError_t error) {
  const std::lock_guard<std::mutex> lock(queues().mutex);
  queues().errors.emplace(device, error);
}

cudaError_t enqueue(cudaStream_t stream, Work work) {
  if (forked()) return fail_call(cudaErrorInitializationError);
  Stream* target;
  {
    const std::lock_guard<std::mutex> lock(queues().mutex);
    target = resolve(stream);
    if (target->device != current) return fail_call(cudaErrorInvalidResourceHandle);
  }
  if (const auto recording = recording_of(stream)) {
    if (recording->is_broken) return fail_call(cudaErrorStreamCaptureInvalidated);
    recording->works.push_back(std::move(work));
    return cudaSuccess;
  }
  return fail_call(add_and_perhaps_run(target, std::move(work)));
}

cudaError_t enqueue_when(cudaStream_t stream, std::function<bool()> is_ready, Work work, std::function<void()>* wait) {
  if (forked()) return fail_call(cudaErrorInitializationError);
  if (recording_of(stream)) return fail_call(cudaErrorStreamCaptureUnsupported);
  const std::lock_guard<std::mutex> lock(queues().mutex);
  Stream* target = resolve(stream);
  if (target->device != current) return fail_call(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = error_of(target->device)) return fail_call(error);
  const Point point = add(target, std::move(work), {}, std::move(is_ready));
  *wait = [point] {
    std::unique_lock<std::mutex> lock(queues().mutex);
    await(lock, [&] { return has_passed(point); });
  };
  return cudaSuccess;
}

void wake_executor() {
  const std::lock_guard<std::mutex> lock(queues().mutex);
  queues().changed.notify_all();
}

cudaError_t finish_stream(cudaStream_t stream) {
  if (forked()) return cudaErrorInitializationError;
  if (const cudaError_t error = refuse_while_recorded()) return error;
  std::unique_lock<std::mutex> lock(queues().mutex);
  Stream* target = resolve(stream);
  const Point end = end_of(target);
  await(lock, [&] { return has_passed(end); });
  return error_of(target->device);
}

cudaError_t finish_device(int device) {
  if (forked()) return cudaErrorInitializationError;
  if (const cudaError_t error = refuse_while_recorded()) return error;
  std::unique_lock<std::mutex> lock(queues().mutex);
  std::vector<Point> ends;
  for (Stream* stream : queues().streams) {
    if (stream->device == device) ends.push_back(end_of(stream));
  }
  await(lock, [&] {
    for (const Point& end : ends) {
      if (!has_passed(end)) return false;
    }
    return true;
  });
  return error_of(device);
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

// ---------------------------------------------------------------------------------------------------- streams

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t error = device_error(current)) return fail_call(error);
  auto* made = new Stream();
  made->device = current;
  made->waits_for_default = (flags & cudaStreamNonBlocking) == 0;
  const std::lock_guard<std::mutex> lock(queues().mutex);
  queues().streams.push_back(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return stream ? cudaSuccess : fail_call(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return fail_call(finish_stream(stream)); }

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t error = device_error(current)) return fail_call(error);
  if (const cudaError_t error = refuse_while_recorded()) return fail_call(error);
  const std::lock_guard<std::mutex> lock(queues().mutex);
  return resolve(stream)->pieces.empty() ? cudaSuccess : fail_call(cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (forked()) return fail_call(cudaErrorInitializationError);
  const auto* awaited = reinterpret_cast<const Event*>(event);
  if (awaited->recording && awaited->recording->has_ended) return fail_call(cudaErrorCapturedEvent);
  if (awaited->recording) {  // the order of issue does what the event is for
    join_recording(stream, awaited->recording);
    return cudaSuccess;
  }
  if (const auto recording = recording_of(stream)) {
    if (awaited->recorded) recording->is_broken = true;
    return awaited->recorded ? fail_call(cudaErrorStreamCaptureIsolation) : cudaSuccess;
  }
  Stream* target;
  Point point;
  {
    const std::lock_guard<std::mutex> lock(queues().mutex);
    target = resolve(stream);
    point = awaited->point;
  }
  return fail_call(add_and_perhaps_run(target, [] { return cudaSuccess; }, point));
}

// ---------------------------------------------------------------------------------------------------- events

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t error = device_error(current)) return fail_call(error);
  auto* made = new Event();
  made->timed = (flags & cudaEventDisableTiming) == 0;
  *event = reinterpret_cast<cudaEvent_t>(made);
  return cudaSuccess;
}

// Its last record may still be queued and will set its time: a few bytes are left behind for it.
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (forked()) return fail_call(cudaErrorInitializationError);
  auto* recorded = reinterpret_cast<Event*>(event);
  recorded->recording = recording_of(stream);
  if (recorded->recording) return cudaSuccess;
  std::unique_lock<std::mutex> lock(queues().mutex);
  Stream* target = resolve(stream);
  if (const cudaError_t error = error_of(target->device)) return fail_call(error);
  recorded->recorded = true;
  recorded->point = add(target, [recorded] {
    recorded->when = std::chrono::steady_clock::now();
    return cudaSuccess;
  });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t error = device_error(current)) return fail_call(error);
  if (reinterpret_cast<const Event*>(event)->recording) return fail_call(cudaErrorCapturedEvent);
  if (const cudaError_t error = refuse_while_recorded()) return fail_call(error);
  std::unique_lock<std::mutex> lock(queues().mutex);
  const auto* asked = reinterpret_cast<const Event*>(event);
  if (has_passed(asked->point)) return cudaSuccess;
  // Who asks again and again gets there in the end.
  Stream* stream = asked->point.stream;
  const Point next{stream, stream->done + random_below(2)};
  await(lock, [&] { return has_passed(next); }, false);
  return has_passed(asked->point) ? cudaSuccess : fail_call(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (forked()) return fail_call(cudaErrorInitializationError);
  if (reinterpret_cast<const Event*>(event)->recording) return fail_call(cudaErrorCapturedEvent);
  if (const cudaError_t error = refuse_while_recorded()) return fail_call(error);
  std::unique_lock<std::mutex> lock(queues().mutex);
  const Point point = reinterpret_cast<const Event*>(event)->point;
  await(lock, [&] { return has_passed(point); });
  return point.stream ? fail_call(error_of(point.stream->device)) : cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const std::lock_guard<std::mutex> lock(queues().mutex);
  const auto* first = reinterpret_cast<const Event*>(start);
  const auto* last = reinterpret_cast<const Event*>(end);
  if (!first->timed || !last->timed || !first->recorded || !last->recorded)
    return fail_call(cudaErrorInvalidResourceHandle);
  if (!has_passed(first->point) || !has_passed(last->point)) return fail_call(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(last->when - first->when).count();
  return cudaSuccess;
}

// ---------------------------------------------------------------------------------------------------- errors

cudaError_t cudaGetLastError() {
  const cudaError_t broken = device_error(current);
  const cudaError_t error = broken != cudaSuccess ? broken : last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t broken = device_error(current);
  return broken != cudaSuccess ? broken : last_error;
}
