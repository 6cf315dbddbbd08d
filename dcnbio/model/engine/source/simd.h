// Fixed-width vectors through the compiler's vector extension, so that one source serves AVX-512, AVX2, SSE and NEON.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#define DCNBIO_INLINE inline __attribute__((always_inline))

namespace dcnbio {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kRegisterRows = 13;  // 13 x 2 accumulators, two weight vectors and a broadcast fit 32 registers
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
constexpr int kRegisterRows = 6;  // 16 registers
#elif defined(__aarch64__)
constexpr int kVectorBytes = 16;
constexpr int kRegisterRows = 12;
#else
constexpr int kVectorBytes = 16;
constexpr int kRegisterRows = 6;
#endif

template <class T>
struct Lanes;

template <>
struct Lanes<float> {
  typedef float vector __attribute__((vector_size(kVectorBytes)));
  typedef float unaligned __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
  typedef int32_t integer __attribute__((vector_size(kVectorBytes)));
  static constexpr int count = kVectorBytes / 4;
};

template <>
struct Lanes<double> {
  typedef double vector __attribute__((vector_size(kVectorBytes)));
  typedef double unaligned __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
  typedef int64_t integer __attribute__((vector_size(kVectorBytes)));
  static constexpr int count = kVectorBytes / 8;
};

template <class T>
using Vector = typename Lanes<T>::vector;

template <class T>
inline Vector<T> load(const T* p) {
  return *reinterpret_cast<const typename Lanes<T>::unaligned*>(p);
}

template <class T>
inline void store(T* p, Vector<T> v) {
  *reinterpret_cast<typename Lanes<T>::unaligned*>(p) = v;
}

// A value that is used several times: tuned for Zen, GCC would else read it from memory at each use.
template <class T>
inline Vector<T> keep(Vector<T> v) {
#if defined(__GNUC__) && defined(__x86_64__)
  __asm__("" : "+v"(v));
#endif
  return v;
}

template <class T>
inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};  // "0 + value" would lose the sign of -0.0
}

template <class T>
inline T lane_sum(Vector<T> v) {
  T total = 0;
  for (int i = 0; i < Lanes<T>::count; ++i) total += v[i];
  return total;
}

// Two vectors of zeros: what lies beyond the edge of a map, and where a product starts from nothing.
template <class T>
inline const T* zero_row() {
  static const T zeros[2 * Lanes<T>::count] = {};
  return zeros;
}

// exp(x) - 1 for x <= 0. Double precision goes through the C library: its speed is not needed.
inline Vector<double> exp_minus_one(Vector<double> x) {
  for (int i = 0; i < Lanes<double>::count; ++i) x[i] = std::expm1(x[i]);
  return x;
}

inline Vector<float> exp_minus_one(Vector<float> x) {
  typedef Lanes<float>::integer Integer;
  x = x < -87.0f ? broadcast(-87.0f) : x;
  const float round_to_integer = 12582912.0f;  // 1.5 * 2^23: adding it leaves the integer in the low mantissa bits
  const Vector<float> shifted = x * 1.44269504f + round_to_integer;
  const Vector<float> power = shifted - round_to_integer;
  Vector<float> r = x - power * 0.693359375f;
  r = r - power * -2.12194440e-4f;
  Vector<float> p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r;  // exp(r) - 1
  Integer exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent = (exponent + 127) << 23;  // the bits of 12582912 above the integer fall out of the shift
  Vector<float> scale;
  std::memcpy(&scale, &exponent, sizeof scale);
  return scale * p + (scale - 1.0f);
}

}  // namespace dcnbio
