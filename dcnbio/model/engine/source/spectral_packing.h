// A dense kernel's rows as frequencies, in the order the products read them, and the way back for its gradient.
#pragma once

#include <vector>

#include "abi.h"
#include "gemm.h"
#include "spectral.h"

namespace dcnbio {

// factors[plane][dx]: what tap dx of a kernel row adds to the plane's panel. K = c + id = sum_dx tap exp(i angle dx).
template <class T>
std::vector<T> kernel_factors(const Spectrum& s) {
  const int size = 2 * s.half + 1;
  std::vector<T> factors(static_cast<size_t>(s.planes()) * size);
  for (int j = 0; j < size; ++j) {
    const long dx = j - s.half;
    for (int r = 0; r < s.reals(); ++r) factors[r * size + j] = static_cast<T>(std::cos(s.real_angle(r, dx)));
    for (int p = 0; p < s.pairs(); ++p) {
      const double angle = s.pair_angle(p, dx), c = std::cos(angle), d = std::sin(angle);
      T* row = factors.data() + static_cast<long>(s.reals() + 3 * p) * size + j;
      row[0] = static_cast<T>(d - c);
      row[size] = static_cast<T>(-c - d);
      row[2 * size] = static_cast<T>(c);
    }
  }
  return factors;
}

// factors[plane][dx]: what the plane's sums add to the gradient of tap dx.
template <class T>
std::vector<T> gradient_factors(const Spectrum& s) {
  const int size = 2 * s.half + 1;
  std::vector<T> factors(static_cast<size_t>(s.planes()) * size);
  for (int j = 0; j < size; ++j) {
    const long dx = j - s.half;
    for (int r = 0; r < s.reals(); ++r)
      factors[r * size + j] = static_cast<T>(std::cos(s.real_angle(r, dx)) / s.length);
    for (int p = 0; p < s.pairs(); ++p) {
      const double angle = s.pair_angle(p, dx);
      const double c = 2 * std::cos(angle) / s.length, d = 2 * std::sin(angle) / s.length;
      T* row = factors.data() + static_cast<long>(s.reals() + 3 * p) * size + j;
      row[0] = static_cast<T>(d);
      row[size] = static_cast<T>(-c);
      row[2 * size] = static_cast<T>(c - d);
    }
  }
  return factors;
}

// Panels of every plane. tap(dy, dx, from, to) reads the kernel, or its adjoint.
template <class T, class Tap>
void pack_spectral_panels(const Geometry& g, const Spectrum& s, Tap tap, T* out) {
  const int size = 2 * s.half + 1, channels = g.channels;
  const long row = channels, taps = row * channels;
  std::vector<T> ordered(static_cast<size_t>(size) * size * taps), mixed(static_cast<size_t>(size) * taps);
  T* next = ordered.data();
  for (int dy = 0; dy < size; ++dy)
    for (int dx = 0; dx < size; ++dx)
      for (int from = 0; from < channels; ++from)
        for (int to = 0; to < channels; ++to) *next++ = tap(dy, dx, from, to);
  const std::vector<T> factors = kernel_factors<T>(s);
  for (int plane = 0; plane < s.planes(); ++plane) {
    std::fill(mixed.begin(), mixed.end(), T(0));
    for (int dy = 0; dy < size; ++dy)
      for (int dx = 0; dx < size; ++dx) {
        const T factor = factors[static_cast<long>(plane) * size + dx];
        const T* from = ordered.data() + (static_cast<long>(dy) * size + dx) * taps;
        T* to = mixed.data() + dy * taps;
        for (long i = 0; i < taps; ++i) to[i] += factor * from[i];
      }
    out = pack_panels(out, size * g.padded, g.padded, channels, 1, [&](int index) -> const T* {
      const int dy = index / g.padded, from = index % g.padded;
      return from < channels ? mixed.data() + dy * taps + from * row : nullptr;
    });
  }
}

template <class T>
void pack_spectral(const Geometry& g, const Spectrum& s, const T* weights, bool adjoint, T* out) {
  const int size = 2 * s.half + 1, last = size - 1;
  const long area = static_cast<long>(size) * size, to_stride = (g.channels + 1) * area;
  if (adjoint)  // turned by 180 degrees, outputs and inputs exchanged
    pack_spectral_panels(g, s, [=](int dy, int dx, int from, int to) {
      return weights[from * to_stride + (to + 1) * area + (last - dy) * size + (last - dx)];
    }, out);
  else
    pack_spectral_panels(g, s, [=](int dy, int dx, int from, int to) {
      return weights[to * to_stride + (from + 1) * area + dy * size + dx];
    }, out);
}

// The planes' sums as sums per tap, [dy][dx][c][padded].
template <class T>
std::vector<T> spectral_taps(const Geometry& g, const Spectrum& s, const T* planes) {
  const int size = 2 * s.half + 1;
  const long taps = static_cast<long>(g.padded) * g.padded;
  const std::vector<T> factors = gradient_factors<T>(s);
  std::vector<T> result(static_cast<size_t>(size) * size * taps, T(0));
  for (int plane = 0; plane < s.planes(); ++plane)
    for (int dy = 0; dy < size; ++dy, planes += taps)
      for (int dx = 0; dx < size; ++dx) {
        const T factor = factors[static_cast<long>(plane) * size + dx];
        T* to = result.data() + (static_cast<long>(dy) * size + dx) * taps;
        for (long i = 0; i < taps; ++i) to[i] += factor * planes[i];
      }
  return result;
}

}  // namespace dcnbio
