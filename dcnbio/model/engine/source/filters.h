// One-dimensional Gaussian-derivative filters along rows or columns of a channels-last map.
//
// A bank holds N + 1 filters on the window -h..h. Filter m is even for even m and odd for odd m, so both members of a
// tap pair share one sum and one difference: taps[j * TERMS + m] is filter m's tap at +j, j = 0..h.
// Beyond the map's edge the input counts as zero.
#pragma once

#include <algorithm>
#include <type_traits>

#include "simd.h"

namespace dcnbio {

// Loops of constant length carry an unroll pragma: only then do arrays of vectors live in registers.

template <class T>
struct Bank {
  const T* taps;
  int half;
};

// Element i of map m at position p is at[p * step + m * plane + i].
template <class T>
struct Maps {
  T* at;
  long step;
  long plane = 0;  // where there is more than one map
  Maps shifted(long i) const { return {at + i, step, plane}; }
};

struct Line {
  int extent;  // positions along the filtered axis
  int inner;   // contiguous elements filtered side by side, a multiple of the vector length
};

// The furthest tap that any of the positions first..last has an input for.
inline int reach(int half, int first, int last, int extent) {
  return std::min(half, std::max(last, extent - 1 - first));
}

// Filters POSITIONS (1 or 2) neighbouring positions from p on; for two of them each load serves both.
template <class T, int TERMS, int POSITIONS, int VECTORS>
DCNBIO_INLINE void analyse_block(Maps<const T> in, Maps<T> out, Bank<T> bank, int p, int extent) {
  constexpr int lanes = Lanes<T>::count;
  constexpr int last = POSITIONS - 1;
  Vector<T> sum[POSITIONS][TERMS][VECTORS], low[VECTORS], high[VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; ++v) {
    low[v] = load(in.at + p * in.step + v * lanes);
    high[v] = load(in.at + (p + last) * in.step + v * lanes);
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m) {
      sum[0][m][v] = m % 2 ? Vector<T>{} : low[v] * bank.taps[m];
      if (last) sum[last][m][v] = m % 2 ? Vector<T>{} : high[v] * bank.taps[m];
    }
  }
  const int limit = reach(bank.half, p, p + last, extent);
  for (int j = 1; j <= limit; ++j) {
    const T* low_at = j <= p ? in.at + (p - j) * in.step : zero_row<T>();
    const T* high_at = p + last + j < extent ? in.at + (p + last + j) * in.step : zero_row<T>();
    const T* tap = bank.taps + j * TERMS;
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
      for (int v = 0; v < VECTORS; ++v)
        store(out.at + (p + q) * out.step + m * out.plane + v * lanes, sum[q][m][v]);
}

template <class T, int TERMS, int VECTORS>
inline void analyse_strip(Maps<const T> in, Maps<T> out, Bank<T> bank, int first, int end, int extent) {
  int p = first;
  for (; p + 1 < end; p += 2) analyse_block<T, TERMS, 2, VECTORS>(in, out, bank, p, extent);
  if (p < end) analyse_block<T, TERMS, 1, VECTORS>(in, out, bank, p, extent);
}

// out_m[p] = sum_j filter_m[j] in[p + j] for first <= p < end: one map to TERMS maps.
template <class T, int TERMS>
void analyse(Maps<const T> in, Maps<T> out, Bank<T> bank, int first, int end, Line line) {
  constexpr int lanes = Lanes<T>::count;
  int i = 0;
  for (; i + 2 * lanes <= line.inner; i += 2 * lanes)
    analyse_strip<T, TERMS, 2>(in.shifted(i), out.shifted(i), bank, first, end, line.extent);
  if (i < line.inner) analyse_strip<T, TERMS, 1>(in.shifted(i), out.shifted(i), bank, first, end, line.extent);
}

template <class T, int TERMS, int POSITIONS, int VECTORS>
DCNBIO_INLINE void synthesise_block(Maps<const T> in, Maps<T> out, Bank<T> bank, int p, int extent) {
  constexpr int lanes = Lanes<T>::count;
  constexpr int last = POSITIONS - 1;
  Vector<T> sum[POSITIONS][VECTORS], low[TERMS][VECTORS], high[TERMS][VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; ++v) {
#pragma GCC unroll 8
    for (int q = 0; q < POSITIONS; ++q) sum[q][v] = Vector<T>{};
#pragma GCC unroll 8
    for (int m = 0; m < TERMS; ++m) {
      low[m][v] = load(in.at + p * in.step + m * in.plane + v * lanes);
      high[m][v] = load(in.at + (p + last) * in.step + m * in.plane + v * lanes);
      if (m % 2 == 0) {
        sum[0][v] += low[m][v] * bank.taps[m];
        if (last) sum[last][v] += high[m][v] * bank.taps[m];
      }
    }
  }
  const int limit = reach(bank.half, p, p + last, extent);
  for (int j = 1; j <= limit; ++j) {
    const bool below = j <= p, above = p + last + j < extent;
    const T* low_at = below ? in.at + (p - j) * in.step : zero_row<T>();
    const T* high_at = above ? in.at + (p + last + j) * in.step : zero_row<T>();
    const long low_plane = below ? in.plane : 0, high_plane = above ? in.plane : 0;
    const T* tap = bank.taps + j * TERMS;
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
    for (int v = 0; v < VECTORS; ++v) store(out.at + (p + q) * out.step + v * lanes, sum[q][v]);
}

template <class T, int TERMS, int VECTORS>
inline void synthesise_strip(Maps<const T> in, Maps<T> out, Bank<T> bank, int extent) {
  int p = 0;
  for (; p + 1 < extent; p += 2) synthesise_block<T, TERMS, 2, VECTORS>(in, out, bank, p, extent);
  if (p < extent) synthesise_block<T, TERMS, 1, VECTORS>(in, out, bank, p, extent);
}

// out[p] = sum_m sum_j filter_m[j] in_m[p + j]: TERMS maps to one. The strips of two vectors keep a whole column of
// all TERMS maps in the first-level cache.
template <class T, int TERMS>
void synthesise(Maps<const T> in, Maps<T> out, Bank<T> bank, Line line) {
  constexpr int lanes = Lanes<T>::count;
  int i = 0;
  for (; i + 2 * lanes <= line.inner; i += 2 * lanes)
    synthesise_strip<T, TERMS, 2>(in.shifted(i), out.shifted(i), bank, line.extent);
  if (i < line.inner) synthesise_strip<T, TERMS, 1>(in.shifted(i), out.shifted(i), bank, line.extent);
}

constexpr int kTapBlock = 6;  // 6 x 3 accumulators for N = 2

// Where the derivative with respect to a bank goes, and line.inner zeros for beyond the edges.
template <class T>
struct TapSums {
  double* gradient;  // [half + 1][TERMS]
  const T* zeros;
  int half;
};

// Pairs first_tap .. first_tap + TAPS - 1 of every filter.
template <class T, int TERMS, int TAPS>
void correlate_taps(Maps<const T> in, Maps<const T> planes, TapSums<T> sums, int first_tap, Line line) {
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
      // tap 0 is no pair: its sum counts the position once
      low[b] = j > 0 && j <= p ? in.at + (p - j) * in.step : sums.zeros;
      high[b] = p + j < line.extent ? in.at + (p + j) * in.step : sums.zeros;
    }
    for (int i = 0; i < line.inner; i += lanes) {
      Vector<T> value[TERMS];
#pragma GCC unroll 8
      for (int m = 0; m < TERMS; ++m) value[m] = keep<T>(load(planes.at + p * planes.step + m * planes.plane + i));
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
    for (int m = 0; m < TERMS; ++m) sums.gradient[(first_tap + b) * TERMS + m] += lane_sum<T>(sum[b][m]);
}

// gradient[j][m] += sum_p planes_m[p] (in[p + j] +- in[p - j]): the derivative of analyse with respect to its bank.
// Entries [0][odd m] are meaningless (an odd filter has no middle tap).
template <class T, int TERMS>
void correlate(Maps<const T> in, Maps<const T> planes, TapSums<T> sums, Line line) {
  const int taps = std::min(sums.half, line.extent - 1) + 1, blocks = (taps + kTapBlock - 1) / kTapBlock;
  for (int block = 0; block < blocks; ++block) {
    const int first = taps * block / blocks, count = taps * (block + 1) / blocks - first;
    const auto run = [&](auto size) {
      correlate_taps<T, TERMS, decltype(size)::value>(in, planes, sums, first, line);
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
#define DCNBIO_FILTERS_OF_TERMS(KIND, T, TERMS)                                                      \
  KIND template void analyse<T, TERMS>(Maps<const T>, Maps<T>, Bank<T>, int, int, Line);             \
  KIND template void synthesise<T, TERMS>(Maps<const T>, Maps<T>, Bank<T>, Line);                    \
  KIND template void correlate<T, TERMS>(Maps<const T>, Maps<const T>, TapSums<T>, Line);
#define DCNBIO_FILTERS(KIND, T)       \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 1) \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 2) \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 3) \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 4) \
  DCNBIO_FILTERS_OF_TERMS(KIND, T, 5)

DCNBIO_FILTERS(extern, float)
DCNBIO_FILTERS(extern, double)

}  // namespace dcnbio
