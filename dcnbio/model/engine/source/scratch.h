// Per-thread memory, kept between calls, and the clock that says where a thread's time went.
#pragma once

#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace dcnbio {

constexpr long kAlignment = 64;

// A bump allocator over one block: buffers of an image lie side by side and stay in the thread's cache.
class Scratch {
 public:
  explicit Scratch(long bytes) : block_(std::aligned_alloc(kAlignment, bytes)), size_(bytes) {
    if (!block_) throw std::bad_alloc();
  }
  ~Scratch() { std::free(block_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void reset() { used_ = 0; }
  long size() const { return size_; }

  template <class T>
  T* take(long count) {
    const long bytes = rounded(count * static_cast<long>(sizeof(T)));
    if (used_ + bytes > size_) throw std::bad_alloc();
    T* start = reinterpret_cast<T*>(static_cast<char*>(block_) + used_);
    used_ += bytes;
    return start;
  }

  static long rounded(long bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

 private:
  void* block_;
  long size_, used_ = 0;
};

// Fresh pages cost more than the small calls themselves, so blocks are lent and returned.
class ScratchPool {
 public:
  static std::unique_ptr<Scratch> borrow(long bytes) {
    bytes = Scratch::rounded(bytes);
    {
      const std::lock_guard<std::mutex> lock(mutex());
      for (auto& block : blocks())
        if (block && block->size() >= bytes) {
          std::unique_ptr<Scratch> found = std::move(block);
          block = std::move(blocks().back());
          blocks().pop_back();
          found->reset();
          return found;
        }
    }
    return std::make_unique<Scratch>(bytes);
  }

  static void give_back(std::unique_ptr<Scratch> block) {
    const std::lock_guard<std::mutex> lock(mutex());
    if (blocks().size() < 64) blocks().push_back(std::move(block));
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::vector<std::unique_ptr<Scratch>>& blocks() {
    static std::vector<std::unique_ptr<Scratch>> instance;
    return instance;
  }
};

enum Work { kFilterWork, kMixingWork, kNormWork, kCombinationWork, kWorkKinds };

class WorkClock {
 public:
  WorkClock() : last_(now()) {}
  void restart() { last_ = now(); }
  // Books the time since the previous call under `work`.
  void lap(Work work) {
    const double time = now();
    seconds_[work] += time - last_;
    last_ = time;
  }
  double seconds(int work) const { return seconds_[work]; }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  double last_;
  double seconds_[kWorkKinds] = {};
};

}  // namespace dcnbio
