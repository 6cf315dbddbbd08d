// One-dimensional Gaussian-derivative filters along rows or columns of a channels-last map.
//
// A filter bank holds N + 1 filters on the window -h..h. Filter m is even for even m and odd for odd m, so both
// members of a tap pair share one sum and one difference: bank[j * terms + m] is the tap at +j, j = 0..h.
// Beyond the map's edge the input counts as zero.
#pragma once

#include <algorithm>
#include <type_traits>

#include "simd.h"

namespace dcnbio {

// Loops of constant length carry an unroll pragma: only then do arrays of vectors live in registers.

// Where a line of positions lies: element i of position p is base[p * step + i], i < inner.
struct Line {
  int extent;  // positions on the map
  int inner;   // contiguous elements filtered side by side, a multiple of the vector length
};

inline int reach(int half, int first, int last, int extent) {
  return std::min(half, std::max(last, extent - 1 - first));
}

// Filters POSITIONS (1 or 2) neighbouring positions; for two of them each load serves both.
template <class T, int TERMS, int POSITIONS, int VECTORS>
DCNBIO_INLINE void analyse_block(const T* in, long step, T* out, long out_step, long out_plane, const T* bank, int half,
                          int p, int extent) {
  constexpr int lanes = Lanes<T>::count;
  constexpr int last = POSITIONS - 1;
  Vector<T> sum[POSITIONS][TERMS][VECTORS], low[VECTORS], high[VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; ++v) {
    low[v] = load(in + p * step + v * lanes);
    high[v] = load(in + (p + last) * step + v * lanes);
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m) {
      sum[0][m][v] = m % 2 ? Vector<T>{} : low[v] * bank[m];
      if (last) sum[last][m][v] = m % 2 ? Vector<T>{} : high[v] * bank[m];
    }
  }
  const int limit = reach(half, p, p + last, extent);
  for (int j = 1; j <= limit; ++j) {
    const T* low_at = j <= p ? in + (p - j) * step : zero_row<T>();
    const T* high_at = p + last + j < extent ? in + (p + last + j) * step : zero_row<T>();
    const T* tap = bank + j * TERMS;
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) {
      const Vector<T> next_low = load(low_at + v * lanes), next_high = load(high_at + v * lanes);
      const Vector<T> near_high = last ? high[v] : next_high;
      const Vector<T> even = next_low + near_high, odd = near_high - next_low;
#pragma GCC unroll 8
      for (int m = 0; m < TERMS; ++m) sum[0][m][v] += (m % 2 ? odd : even) * tap[m];
      if (last) {
        const Vector<T> even_next = low[v] + next_high, odd_next = next_high - low[v];
#pragma GCC unroll 8
        for (int m = 0; m < TERMS; ++m) sum[last][m][v] += (m % 2 ? odd_next : even_next) * tap[m];
      }
      low[v] = next_low;
      high[v] = next_high;
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < POSITIONS; ++q)
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m)
#pragma GCC unroll 8
      for (int v = 0; v < VECTORS; ++v) store(out + (p + q) * out_step + m * out_plane + v * lanes, sum[q][m][v]);
}

// out_m[p] = sum_j filter_m[j] in[p + j] for first <= p < end: one map to TERMS maps.
template <class T, int TERMS, int VECTORS>
inline void analyse_strip(const T* in, long step, T* out, long out_step, long out_plane, const T* bank, int half,
                          int first, int end, int extent) {
  int p = first;
  for (; p + 1 < end; p += 2)
    analyse_block<T, TERMS, 2, VECTORS>(in, step, out, out_step, out_plane, bank, half, p, extent);
  if (p < end) analyse_block<T, TERMS, 1, VECTORS>(in, step, out, out_step, out_plane, bank, half, p, extent);
}

template <class T, int TERMS>
void analyse(const T* in, long step, T* out, long out_step, long out_plane, const T* bank, int half, int first, int end,
             Line line) {
  constexpr int lanes = Lanes<T>::count;
  int i = 0;
  for (; i + 2 * lanes <= line.inner; i += 2 * lanes)
    analyse_strip<T, TERMS, 2>(in + i, step, out + i, out_step, out_plane, bank, half, first, end, line.extent);
  if (i < line.inner)
    analyse_strip<T, TERMS, 1>(in + i, step, out + i, out_step, out_plane, bank, half, first, end, line.extent);
}

template <class T, int TERMS, int POSITIONS, int VECTORS>
DCNBIO_INLINE void synthesise_block(const T* in, long step, long plane, T* out, const T* bank, int half, int p, int extent) {
  constexpr int lanes = Lanes<T>::count;
  constexpr int last = POSITIONS - 1;
  Vector<T> sum[POSITIONS][VECTORS], low[TERMS][VECTORS], high[TERMS][VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; ++v) {
#pragma GCC unroll 8
    for (int q = 0; q < POSITIONS; ++q) sum[q][v] = Vector<T>{};
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m) {
      low[m][v] = load(in + p * step + m * plane + v * lanes);
      high[m][v] = load(in + (p + last) * step + m * plane + v * lanes);
      if (m % 2 == 0) {
        sum[0][v] += low[m][v] * bank[m];
        if (last) sum[last][v] += high[m][v] * bank[m];
      }
    }
  }
  const int limit = reach(half, p, p + last, extent);
  for (int j = 1; j <= limit; ++j) {
    const bool below = j <= p, above = p + last + j < extent;
    const T* low_at = below ? in + (p - j) * step : zero_row<T>();
    const T* high_at = above ? in + (p + last + j) * step : zero_row<T>();
    const long low_plane = below ? plane : 0, high_plane = above ? plane : 0;
    const T* tap = bank + j * TERMS;
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m)
#pragma GCC unroll 8
      for (int v = 0; v < VECTORS; ++v) {
        const Vector<T> next_low = load(low_at + m * low_plane + v * lanes);
        const Vector<T> next_high = load(high_at + m * high_plane + v * lanes);
        const Vector<T> near_high = last ? high[m][v] : next_high;
        sum[0][v] += (m % 2 ? near_high - next_low : near_high + next_low) * tap[m];
        if (last) sum[last][v] += (m % 2 ? next_high - low[m][v] : next_high + low[m][v]) * tap[m];
        low[m][v] = next_low;
        high[m][v] = next_high;
      }
  }
#pragma GCC unroll 8
  for (int q = 0; q < POSITIONS; ++q)
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) store(out + (p + q) * step + v * lanes, sum[q][v]);
}

template <class T, int TERMS, int VECTORS>
inline void synthesise_strip(const T* in, long step, long plane, T* out, const T* bank, int half, int extent) {
  int p = 0;
  for (; p + 1 < extent; p += 2)
    synthesise_block<T, TERMS, 2, VECTORS>(in, step, plane, out, bank, half, p, extent);
  if (p < extent) synthesise_block<T, TERMS, 1, VECTORS>(in, step, plane, out, bank, half, p, extent);
}

// out[p] = sum_m sum_j filter_m[j] in_m[p + j]: TERMS maps to one. The strips of two vectors keep a whole column of
// all TERMS maps in the first-level cache.
template <class T, int TERMS>
void synthesise(const T* in, long step, long plane, T* out, const T* bank, int half, Line line) {
  constexpr int lanes = Lanes<T>::count;
  int i = 0;
  for (; i + 2 * lanes <= line.inner; i += 2 * lanes)
    synthesise_strip<T, TERMS, 2>(in + i, step, plane, out + i, bank, half, line.extent);
  if (i < line.inner) synthesise_strip<T, TERMS, 1>(in + i, step, plane, out + i, bank, half, line.extent);
}

constexpr int kTapBlock = 6;  // 6 x 3 accumulators for N = 2

// Pairs first_tap .. first_tap + TAPS - 1 of every filter; zeros holds line.inner zeros, for beyond the edges.
template <class T, int TERMS, int TAPS>
void correlate_taps(const T* in, long step, const T* planes, long plane, const T* zeros, double* gradient,
                    int first_tap, Line line) {
  constexpr int lanes = Lanes<T>::count;
  Vector<T> sum[TAPS][TERMS];
#pragma GCC unroll 8
  for (int b = 0; b < TAPS; ++b)
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m) sum[b][m] = Vector<T>{};
  for (int p = 0; p < line.extent; ++p) {
    const T *low[TAPS], *high[TAPS];
#pragma GCC unroll 8
    for (int b = 0; b < TAPS; ++b) {
      const int j = first_tap + b;
      low[b] = j > 0 && j <= p ? in + (p - j) * step : zeros;  // tap 0 is no pair: its sum counts the position once
      high[b] = p + j < line.extent ? in + (p + j) * step : zeros;
    }
    for (int i = 0; i < line.inner; i += lanes) {
      Vector<T> value[TERMS];
#pragma GCC unroll 8
      for (int m = 0; m < TERMS; ++m) value[m] = keep<T>(load(planes + p * step + m * plane + i));
#pragma GCC unroll 8
      for (int b = 0; b < TAPS; ++b) {
        const Vector<T> below = keep<T>(load(low[b] + i)), above = keep<T>(load(high[b] + i));
        const Vector<T> even = above + below, odd = above - below;
#pragma GCC unroll 8
        for (int m = 0; m < TERMS; ++m) sum[b][m] += (m % 2 ? odd : even) * value[m];
      }
    }
  }
#pragma GCC unroll 8
  for (int b = 0; b < TAPS; ++b)
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m) gradient[(first_tap + b) * TERMS + m] += lane_sum<T>(sum[b][m]);
}

// gradient[j][m] += sum_p planes_m[p] (in[p + j] +- in[p - j]): the derivative of analyse with respect to its bank.
// Entries [0][odd m] are meaningless (an odd filter has no middle tap).
template <class T, int TERMS>
void correlate(const T* in, long step, const T* planes, long plane, const T* zeros, double* gradient, int half,
               Line line) {
  const int taps = std::min(half, line.extent - 1) + 1, blocks = (taps + kTapBlock - 1) / kTapBlock;
  for (int block = 0; block < blocks; ++block) {
    const int first = taps * block / blocks, count = taps * (block + 1) / blocks - first;
    const auto run = [&](auto size) {
      correlate_taps<T, TERMS, decltype(size)::value>(in, step, planes, plane, zeros, gradient, first, line);
    };
    switch (count) {
      case 1: run(std::integral_constant<int, 1>{}); break;
      case 2: run(std::integral_constant<int, 2>{}); break;
      case 3: run(std::integral_constant<int, 3>{}); break;
      case 4: run(std::integral_constant<int, 4>{}); break;
      case 5: run(std::integral_constant<int, 5>{}); break;
      default: run(std::integral_constant<int, 6>{});
    }
  }
}

// Compiled once each, in filters_float32.cpp and filters_float64.cpp: they are most of the compiler's work.
#define DCNBIO_FILTERS_OF_TERMS(KIND, T, TERMS)                                                                     \
  KIND template void analyse<T, TERMS>(const T*, long, T*, long, long, const T*, int, int, int, Line);              \
  KIND template void synthesise<T, TERMS>(const T*, long, long, T*, const T*, int, Line);                           \
  KIND template void correlate<T, TERMS>(const T*, long, const T*, long, const T*, double*, int, Line);
#define DCNBIO_FILTERS(KIND, T)         \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 1)   \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 2)   \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 3)   \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 4)   \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 5)

DCNBIO_FILTERS(extern, float)
DCNBIO_FILTERS(extern, double)

}  // namespace dcnbio
