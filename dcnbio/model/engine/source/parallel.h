// Work shared among threads by image. An image runs within one thread, so its numbers do not depend on the others.
#pragma once

#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace dcnbio {

// Calls worker(next) on each thread; next() hands out 0..tasks-1 once each and -1 when none is left.
template <class Worker>
void run_parallel(long tasks, int threads, Worker worker) {
  std::atomic<long> counter{0};
  const auto next = [&counter, tasks]() -> long {
    const long task = counter.fetch_add(1, std::memory_order_relaxed);
    return task < tasks ? task : -1;
  };
  const int count = static_cast<int>(threads < tasks ? threads : tasks);
  std::vector<std::exception_ptr> failures(count > 0 ? count : 1);
  const auto guarded = [&](int index) {
    try {
      worker(next);
    } catch (...) {
      failures[index] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < count; ++i) {
    try {
      others.emplace_back(guarded, i);
    } catch (const std::system_error&) {
      break;  // fewer threads do the same work
    }
  }
  guarded(0);
  for (std::thread& thread : others) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace dcnbio
