#include "grid.h"

#include "fibers.h"
#include "memory.h"
#include "races.h"
#include "random.h"

#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <tensor_cores.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// What the compiler calls for a thread-local variable: its library, and its place in the library's storage.
struct ThreadLocal {
  unsigned long library;
  unsigned long offset;
};
extern "C" void* __tls_get_addr(ThreadLocal*);

namespace cuda_emulation {

Identity* self = nullptr;

namespace {

constexpr unsigned kWarp = 32;

// Why a kernel ended before its end.
struct KernelFault {
  cudaError_t error;
  std::string message;
};

enum class State { kNew, kReady, kAtBarrier, kInWarp, kEnded };

// Begun, and not waited for.
struct LaterCopy {
  void* target;
  const void* source;  // null for zeros
  int bytes;
};

struct Thread {
  Identity identity;
  unsigned number = 0;  // in the block
  std::vector<LaterCopy> copies;
  Moment moment;
  State state = State::kNew;
  struct Worker* worker = nullptr;
};

// A fiber, and the thread that it runs.
struct Worker {
  Fiber fiber;
  Thread* thread = nullptr;
};

// Lanes that exchange values: open until all of `mask` are there.
struct WarpMeeting {
  unsigned warp = 0;
  unsigned mask = 0;
  unsigned present = 0;
  Lanes lanes;
};

bool is_in(const void* address, const void* begin, size_t bytes) {
  return static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(begin)) < bytes;
}

// The library that a kernel is of: where its constants are, and its thread-local storage on the executor (see
// __shared__).
class Library {
 public:
  // That of the next kernel, which is at `code`.
  void find(const void* code) {
    if (code == code_) return;
    code_ = code;
    const unsigned char* before = shared_;
    dl_iterate_phdr(visit, this);
    if (shared_ != before) spoil(shared_, shared_bytes_);
  }

  bool holds(const void* address) const { return is_in(address, loaded_, loaded_bytes_); }
  bool shares(const void* address) const { return is_in(address, shared_, shared_bytes_); }

  void note_shared(const void* address, size_t bytes) {
    auto* first = const_cast<unsigned char*>(static_cast<const unsigned char*>(address));
    touched_begin_ = touched_end_ == nullptr ? first : std::min(touched_begin_, first);
    touched_end_ = std::max(touched_end_, first + bytes);
  }

  // For the next block: fresh shared memory holds anything.
  void spoil_touched() {
    if (touched_end_ != nullptr) spoil(touched_begin_, static_cast<size_t>(touched_end_ - touched_begin_));
    touched_begin_ = touched_end_ = nullptr;
  }

 private:
  // What is NaN in every floating type.
  static void spoil(unsigned char* begin, size_t bytes) {
    if (bytes != 0) memset(begin, 0xff, bytes);
  }

  static int visit(dl_phdr_info* info, size_t, void* data) {
    auto* wanted = static_cast<Library*>(data);
    uintptr_t begin = UINTPTR_MAX, end = 0;
    bool holds_code = false;
    size_t storage_bytes = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      const auto first = info->dlpi_addr + part.p_vaddr;
      if (part.p_type == PT_LOAD) {
        holds_code = holds_code || reinterpret_cast<uintptr_t>(wanted->code_) - first < part.p_memsz;
        begin = std::min<uintptr_t>(begin, first);
        end = std::max<uintptr_t>(end, first + part.p_memsz);
      }
      if (part.p_type == PT_TLS) storage_bytes = part.p_memsz;
    }
    if (!holds_code) return 0;
    wanted->loaded_ = reinterpret_cast<const char*>(begin);
    wanted->loaded_bytes_ = end - begin;
    // Asked for, it is there, though no kernel has touched any of it.
    ThreadLocal first{info->dlpi_tls_modid, 0};
    wanted->shared_ = storage_bytes == 0 ? nullptr : static_cast<unsigned char*>(__tls_get_addr(&first));
    wanted->shared_bytes_ = storage_bytes;
    return 1;
  }

  const void* code_ = nullptr;
  const char* loaded_ = nullptr;
  size_t loaded_bytes_ = 0;
  unsigned char* shared_ = nullptr;
  size_t shared_bytes_ = 0;
  unsigned char* touched_begin_ = nullptr;
  unsigned char* touched_end_ = nullptr;
};

class Block {
 public:
  explicit Block(const Launch& launch) : launch_(launch) {
    const dim3 size = launch.block;
    threads_.resize(size_t{size.x} * size.y * size.z);
    ready_.reserve(threads_.size());
    unsigned number = 0;
    for (unsigned z = 0; z < size.z; ++z) {
      for (unsigned y = 0; y < size.y; ++y) {
        for (unsigned x = 0; x < size.x; ++x, ++number) {
          threads_[number].identity = {{x, y, z}, {0, 0, 0}, size, launch.grid};
          threads_[number].number = number;
        }
      }
    }
  }

  // Its threads become those of the next block, from their beginning.
  void begin(uint32_t own_number, uint3 place) {
    ready_.clear();
    ended_ = 0;
    for (Thread& thread : threads_) {
      thread.identity.block = place;
      thread.moment = {own_number, thread.number, 0, 0};
      thread.state = State::kNew;
      thread.copies.clear();
      ready_.push_back(&thread);
    }
  }

  void run();
  void wait_for_block();
  void meet(unsigned mask, const void* value, size_t bytes, Lanes& lanes);
  void yield();
  [[noreturn]] void fail(cudaError_t error, std::string message);
  // Out of a signal's handler, back to `run`.
  [[noreturn]] void escape(KernelFault found);
  const Launch& launch() const { return launch_; }
  Thread& thread() { return *running_->thread; }

  std::unique_ptr<KernelFault> fault;

 private:
  static void work();
  Thread* take_ready();
  void leave();
  void release_barrier();
  unsigned existing_lanes(unsigned warp) const;

  const Launch& launch_;
  std::vector<Thread> threads_;
  std::vector<Thread*> ready_;
  std::vector<std::shared_ptr<WarpMeeting>> meetings_;
  Worker* running_ = nullptr;
  size_t ended_ = 0;
  sigjmp_buf recovery_;
};

Block* active = nullptr;
Library library;
DeviceMemoryFinder device_memory;
RaceTable shared_races;
RaceTable device_races;
size_t device_accesses = 0;
QuickNumbers numbers(1);
int active_device = 0;
std::vector<Worker*> idle_workers;

Thread* Block::take_ready() {
  const size_t choice = numbers.below(ready_.size());
  Thread* chosen = ready_[choice];
  ready_[choice] = ready_.back();
  ready_.pop_back();
  return chosen;
}

// A worker goes through threads: when one ends and the next has not begun, it goes on with that, without a switch.
void Block::work() {
  while (true) {
    Block& block = *active;
    Thread& thread = block.thread();
    block.launch_.run(block.launch_.arguments.get());
    thread.state = State::kEnded;
    ++block.ended_;
    if (!block.ready_.empty()) {
      Thread* next = block.take_ready();
      if (next->state == State::kNew) {
        next->state = State::kReady;
        next->worker = block.running_;
        block.running_->thread = next;
        self = &next->identity;
        continue;
      }
      block.ready_.push_back(next);
    }
    block.running_->thread = nullptr;
    block.leave();
  }
}

void Block::leave() { running_->fiber.leave(); }

void Block::run() {
  active = this;
  if (sigsetjmp(recovery_, 1) == 0) {
    while (!fault && ended_ < threads_.size()) {
      if (ready_.empty()) release_barrier();
      if (fault) break;
      Thread* next = take_ready();
      if (next->state == State::kNew) {
        if (idle_workers.empty()) idle_workers.push_back(new Worker{Fiber(&Block::work)});
        next->worker = idle_workers.back();
        idle_workers.pop_back();
        next->worker->thread = next;
      }
      next->state = State::kReady;
      running_ = next->worker;
      self = &next->identity;
      running_->fiber.enter();
      if (running_->thread == nullptr) idle_workers.push_back(running_);
    }
  } else {
    Fiber::arrive_after_escape();
  }
  active = nullptr;
  self = nullptr;
}

void Block::escape(KernelFault found) {
  fault = std::make_unique<KernelFault>(std::move(found));
  Fiber::announce_escape();
  siglongjmp(recovery_, 1);
}

// Nobody can go on: either all wait at the barrier, or the kernel is wrong.
void Block::release_barrier() {
  size_t waiting = 0;
  for (const Thread& thread : threads_) waiting += thread.state == State::kAtBarrier;
  if (waiting == threads_.size()) {
    for (Thread& thread : threads_) {
      thread.state = State::kReady;
      ++thread.moment.barriers;
      ready_.push_back(&thread);
    }
    return;
  }
  fault = std::make_unique<KernelFault>(KernelFault{
      cudaErrorLaunchFailure, "of " + std::to_string(threads_.size()) + " threads of a block " +
                                  std::to_string(waiting) + " wait at __syncthreads, " + std::to_string(ended_) +
                                  " have ended and the others wait for lanes of their warp"});
}

// Leaves the thread where it is, for good: an exception could not pass through
// the calls that the compiler has put into kernels.
void Block::fail(cudaError_t error, std::string message) {
  fault = std::make_unique<KernelFault>(KernelFault{error, std::move(message)});
  leave();
  std::abort();
}

void Block::wait_for_block() {
  thread().state = State::kAtBarrier;
  leave();
}

void Block::yield() {
  Thread& own = thread();
  ready_.push_back(&own);
  leave();
}

unsigned Block::existing_lanes(unsigned warp) const {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < kWarp && warp * kWarp + lane < threads_.size(); ++lane) {
    if (threads_[warp * kWarp + lane].state != State::kEnded) lanes |= 1u << lane;
  }
  return lanes;
}

void Block::meet(unsigned mask, const void* value, size_t bytes, Lanes& lanes) {
  Thread& own = thread();
  const unsigned warp = own.number / kWarp, lane = own.number % kWarp;
  if ((mask >> lane & 1) == 0 || (mask & ~existing_lanes(warp)) != 0) {
    fail(cudaErrorLaunchFailure, "a warp operation names lanes that are not there, or not the one that calls it");
  }
  std::shared_ptr<WarpMeeting> meeting;
  for (const auto& open : meetings_) {
    if (open->warp == warp && open->mask == mask && (open->present >> lane & 1) == 0) meeting = open;
  }
  if (!meeting) {
    meeting = std::make_shared<WarpMeeting>();
    meeting->warp = warp;
    meeting->mask = mask;
    memset(&meeting->lanes, 0xff, sizeof meeting->lanes);
    meetings_.push_back(meeting);
  }
  memcpy(meeting->lanes.slots[lane], value, bytes);
  meeting->present |= 1u << lane;
  if (meeting->present == mask) {
    meetings_.erase(std::find(meetings_.begin(), meetings_.end(), meeting));
    for (unsigned other = 0; other < kWarp; ++other) {
      if ((mask >> other & 1) == 0) continue;
      Thread& released = threads_[warp * kWarp + other];
      ++released.moment.meetings;
      if (other != lane) {
        released.state = State::kReady;
        ready_.push_back(&released);
      }
    }
  } else {
    own.state = State::kInWarp;
    leave();
  }
  lanes = meeting->lanes;
}

void handle_signal(int signal, siginfo_t* info, void*) {
  if (active) {
    active->escape({cudaErrorIllegalAddress,
                    signal == SIGILL
                        ? "an index beyond an array of a thread's own"
                        : "an access to address " + std::to_string(reinterpret_cast<uintptr_t>(info->si_addr))});
  }
  if (signal == SIGSEGV && is_device_memory(info->si_addr, 1, -1)) {
    static const char text[] = "CUDA emulation: the host followed a pointer to device memory\n";
    [[maybe_unused]] const auto written = write(2, text, sizeof text - 1);
  }
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
}

void install_handlers() {
  static const bool done = [] {
    struct sigaction action{};
    action.sa_sigaction = handle_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
    sigaction(SIGFPE, &action, nullptr);
    sigaction(SIGILL, &action, nullptr);
    return true;
  }();
  static_cast<void>(done);
  thread_local bool has_stack = false;
  if (has_stack) return;
  has_stack = true;
  stack_t stack{};
  stack.ss_size = 64 * 1024;
  stack.ss_sp = std::malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
}

}  // namespace

void fail_assertion(const char* condition, const char* file, int line) {
  const Identity& own = *self;
  char text[1024];
  std::snprintf(text, sizeof text, "%s:%d: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file, line,
                own.block.x, own.block.y, own.block.z, own.thread.x, own.thread.y, own.thread.z, condition);
  active->fail(cudaErrorAssert, text);
}

void wait_for_block() { active->wait_for_block(); }

void meet_lanes(unsigned mask, const void* value, size_t bytes, Lanes& lanes) {
  active->meet(mask, value, bytes, lanes);
}

void copy_later(void* target, const void* source, int bytes, bool exists) {
  active->thread().copies.push_back({target, exists ? source : nullptr, bytes});
}

void wait_for_copies() {
  std::vector<LaterCopy>& copies = active->thread().copies;
  for (const LaterCopy& copy : copies) {
    const auto bytes = static_cast<size_t>(copy.bytes);
    if (copy.source) check_access(copy.source, bytes, false, true);
    check_access(copy.target, bytes, true, true);
    if (copy.source)
      memcpy(copy.target, copy.source, bytes);
    else
      memset(copy.target, 0, bytes);
  }
  copies.clear();
}

int own_lane() { return static_cast<int>(active->thread().number % kWarp); }

void check_access(const void* address, size_t bytes, bool writes, bool aligned) {
  // The accesses of a launch that are looked at for races in device memory; what large ones do, small ones do, too.
  constexpr size_t looked_at = 200'000;
  if (Fiber::entered_owns(address) || is_in(address, self, sizeof *self) || is_in(address, &self, sizeof self)) return;
  Block& block = *active;
  const Moment& now = block.thread().moment;
  const Launch& launch = block.launch();
  if (is_in(address, launch.arguments.get(), launch.arguments_bytes)) return;
  const char* what = writes ? "write" : "read";
  if (library.shares(address)) {
    library.note_shared(address, bytes);
    if (!shared_races.note(address, bytes, writes, true, now)) {
      block.fail(cudaErrorLaunchFailure,
                 std::string("a race: threads of a block touch the same shared memory with no barrier "
                             "between, seen at a ") +
                     what);
    }
  } else if (device_memory.holds(address, bytes, active_device)) {
    if (aligned && reinterpret_cast<uintptr_t>(address) % bytes != 0) {
      block.fail(cudaErrorMisalignedAddress, std::string("a ") + what + " of " + std::to_string(bytes) +
                                                 " bytes at once is at no multiple of them");
    }
    if (++device_accesses < looked_at && !device_races.note(address, bytes, writes, false, now)) {
      block.fail(cudaErrorLaunchFailure,
                 std::string("a race: one thread writes what another reads, seen at a ") + what);
    }
  } else if (!library.holds(address)) {
    block.fail(cudaErrorIllegalAddress, std::string("a kernel's ") + what + " of " + std::to_string(bytes) +
                                            " bytes is neither in its device's memory nor in its own");
  }
  if (numbers.below(64) == 0) block.yield();
}

cudaError_t run_grid(const Launch& launch, int device) {
  install_handlers();
  active_device = device;
  device_accesses = 0;
  numbers = QuickNumbers(random_number());
  device_races.clear();
  const dim3 grid = launch.grid;
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  // Some order: from a random block on, in steps that meet each block once.
  uint64_t step = blocks > 2 ? 1 + random_below(blocks - 1) : 1;
  const auto common = [](uint64_t a, uint64_t b) {
    while (b) std::swap(a %= b, b);
    return a;
  };
  while (common(step, blocks) != 1) step = step % blocks + 1;
  uint64_t number = random_below(blocks);
  library.find(launch.code);
  Block block(launch);
  for (uint64_t i = 0; i < blocks; ++i, number = (number + step) % blocks) {
    library.spoil_touched();
    shared_races.clear();
    block.begin(static_cast<uint32_t>(number),
                {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                 static_cast<unsigned>(number / grid.x / grid.y)});
    block.run();
    if (block.fault) {
      std::fprintf(stderr, "CUDA emulation: %s\n  in a kernel of %s\n", block.fault->message.c_str(), launch.name);
      return block.fault->error;
    }
  }
  return cudaSuccess;
}

}  // namespace cuda_emulation
