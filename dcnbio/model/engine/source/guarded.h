// No exception crosses the C interface: callers see a code.
#pragma once

#include <new>

namespace dcnbio {

enum Outcome { kDone = 0, kOutOfMemory = 1, kFailed = 2 };

template <class Body>
int guarded(Body body) {
  try {
    body();
    return kDone;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (...) {
    return kFailed;
  }
}

}  // namespace dcnbio
