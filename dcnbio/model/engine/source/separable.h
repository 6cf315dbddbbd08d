// A convolution with structured receptive fields, factored: y = sum_k Gy_k [ sum_l A_kl (Gx_l x) ], k + l <= N.
//
// Filter along rows (1 map to N + 1), mix channels ((N+1)(N+2)/2 products of C x C), filter along columns and add.
// Each strip of rows goes from the input to the mixed maps while it is in the first two cache levels.
#pragma once

#include <algorithm>

#include "filters.h"
#include "gemm.h"
#include "geometry.h"
#include "scratch.h"

namespace dcnbio {

template <class T>
struct SeparableKernel {
  int half;
  const T *bank, *adjoint_bank;  // [half + 1][terms]
  const T *panels, *adjoint_panels;
  const T* time_rows;  // [terms (k)][terms (l)][padded], the time channel's alphas
};

template <class T>
struct SeparableGradient {
  T *weights, *time_rows;          // [k][l * padded + c][padded], [k][l][padded]
  double *row_bank, *column_bank;  // [half + 1][terms] each, or null where the taps' gradient is not wanted
};

constexpr long mixing_rows(int terms, int padded) { return static_cast<long>(terms) * (terms + 1) / 2 * padded; }

// Both axes see the same taps; odd filters change sign under the adjoint.
template <class T>
void project_taps(const T* taps, int terms, int half, T* bank, T* adjoint_bank) {
  const int size = 2 * half + 1;
  for (int j = 0; j <= half; ++j)
    for (int m = 0; m < terms; ++m) {
      const T plus = taps[m * size + half + j], minus = taps[m * size + half - j];
      const T value = m % 2 ? (plus - minus) / 2 : (plus + minus) / 2;
      bank[j * terms + m] = value;
      adjoint_bank[j * terms + m] = m % 2 ? -value : value;
    }
}

// profile[l][x]: filter l along a row of ones, with zeros beyond the edges.
template <class T>
void edge_profile(const T* bank, int terms, int half, int width, T* profile) {
  for (int m = 0; m < terms; ++m)
    for (int x = 0; x < width; ++x) {
      T low = 0, high = 0;
      for (int j = 1; j <= std::min(half, x); ++j) low += bank[j * terms + m];
      for (int j = 1; j <= std::min(half, width - 1 - x); ++j) high += bank[j * terms + m];
      profile[m * width + x] = m % 2 ? high - low : bank[m] + high + low;
    }
}

// The time channel is t at every pixel, so its mixed rows depend on x alone: [k][strip pixel][padded].
template <class T>
void time_table(const Geometry& g, int terms, const T* time_rows, const T* profile, T time, T* table) {
  constexpr int lanes = Lanes<T>::count;
  const int strip = g.strip_pixels();
  for (int k = 0; k < terms; ++k) {
    T* rows = table + static_cast<long>(k) * strip * g.padded;
    for (int x = 0; x < g.width; ++x)
      for (int c = 0; c < g.padded; c += lanes) {
        Vector<T> sum{};
        for (int l = 0; k + l < terms; ++l)
          sum += load(time_rows + (k * terms + l) * g.padded + c) * (time * profile[l * g.width + x]);
        store(rows + static_cast<long>(x) * g.padded + c, sum);
      }
    for (int y = 1; y < g.strip_rows(); ++y)
      std::copy(rows, rows + static_cast<long>(g.width) * g.padded, rows + static_cast<long>(y) * g.width * g.padded);
  }
}

template <class T>
struct SeparableBuffers {
  T *inputs, *outputs, *table, *profile, *column_sums, *zeros;

  SeparableBuffers() = default;
  SeparableBuffers(const Geometry& g, int terms, Scratch& scratch) {
    const long strip = static_cast<long>(terms) * g.strip_pixels() * g.padded;
    inputs = scratch.take<T>(strip);
    outputs = scratch.take<T>(strip);
    table = scratch.take<T>(strip);
    profile = scratch.take<T>(static_cast<long>(terms) * g.width);
    column_sums = scratch.take<T>(static_cast<long>(terms) * g.width * g.padded);
    zeros = scratch.take<T>(static_cast<long>(g.width) * g.padded);
    std::fill(zeros, zeros + static_cast<long>(g.width) * g.padded, T(0));
  }
};

template <class T, int TERMS>
void filter_rows(const Geometry& g, const SeparableKernel<T>& kernel, const T* in, int first, int end, T* out) {
  const long row = static_cast<long>(g.width) * g.padded;
  for (int y = first; y < end; ++y)
    analyse<T, TERMS>(in + y * row, g.padded, out + (y - first) * row * TERMS, g.padded * TERMS, g.padded, kernel.bank,
                      kernel.half, 0, g.width, Line{g.width, g.padded});
}

// mixed_k = sum_l A_kl (Gx_l in) for every k, [k][pixel][padded]; then out = sum_k Gy_k mixed_k.
template <class T, int TERMS>
void convolve(const Geometry& g, const SeparableKernel<T>& kernel, T time, const T* in, T* mixed, T* out,
              const SeparableBuffers<T>& buffers, WorkClock& clock) {
  edge_profile(kernel.bank, TERMS, kernel.half, g.width, buffers.profile);
  time_table(g, TERMS, kernel.time_rows, buffers.profile, time, buffers.table);
  const long strip_size = static_cast<long>(g.strip_pixels()) * g.padded;
  for (int first = 0; first < g.height; first += g.strip_rows()) {
    const int end = std::min(g.height, first + g.strip_rows());
    filter_rows<T, TERMS>(g, kernel, in, first, end, buffers.inputs);
    clock.lap(kFilterWork);
    const T* panels = kernel.panels;
    for (int k = 0; k < TERMS; ++k) {
      const int depth = (TERMS - k) * g.padded;
      const Product<T> product{depth, buffers.inputs, TERMS * g.padded, 1, panels, 0, buffers.table + k * strip_size,
                               g.padded, mixed + k * g.size() + static_cast<long>(first) * g.width * g.padded,
                               g.padded};
      multiply_packed(product, static_cast<long>(end - first) * g.width, g.padded);
      panels += static_cast<long>(depth) * g.padded;
    }
    clock.lap(kMixingWork);
  }
  const int row = g.width * g.padded;
  synthesise<T, TERMS>(mixed, row, g.size(), out, kernel.bank, kernel.half, Line{g.height, row});
  clock.lap(kFilterWork);
}

// What the time channel owes to its alphas and taps, from the column sums of the mixed maps' gradient.
template <class T, int TERMS>
void time_gradient(const Geometry& g, const SeparableKernel<T>& kernel, T time, const SeparableBuffers<T>& buffers,
                   SeparableGradient<T>& gradient) {
  edge_profile(kernel.bank, TERMS, kernel.half, g.width, buffers.profile);
  for (int x = 0; x < g.width; ++x)
    for (int l = 0; l < TERMS; ++l) {
      const T weight = time * buffers.profile[l * g.width + x];
      T slope = 0;
      for (int k = 0; k + l < TERMS; ++k) {
        const T* sums = buffers.column_sums + (static_cast<long>(k) * g.width + x) * g.padded;
        const long row = static_cast<long>(k * TERMS + l) * g.padded;
        for (int c = 0; c < g.padded; ++c) {
          gradient.time_rows[row + c] += weight * sums[c];
          slope += kernel.time_rows[row + c] * sums[c];
        }
      }
      for (int j = l % 2; gradient.row_bank && j <= kernel.half; ++j) {
        const int above = x + j < g.width, below = j > 0 && j <= x;
        gradient.row_bank[j * TERMS + l] += static_cast<double>(time * slope) * (l % 2 ? above - below : above + below);
      }
    }
}

// The gradient of one strip of rows with respect to weights, row taps and input.
template <class T, int TERMS>
void convolve_strip_gradient(const Geometry& g, const SeparableKernel<T>& kernel, const T* in, T* in_gradient,
                             int first, int end, const SeparableBuffers<T>& buffers, SeparableGradient<T>& gradient,
                             WorkClock& clock) {
  const int pixels = (end - first) * g.width, pixel_step = TERMS * g.padded;
  const long plane = static_cast<long>(g.strip_pixels()) * g.padded;
  T* weights = gradient.weights;
  const T* panels = kernel.adjoint_panels;
  for (int k = 0; k < TERMS; ++k) {
    const int depth = (TERMS - k) * g.padded;
    const Product<T> outer{pixels, buffers.inputs, 1, pixel_step, buffers.outputs + k * g.padded, pixel_step, nullptr,
                           0, weights, g.padded};
    multiply_accumulate(outer, depth, g.padded);
    weights += static_cast<long>(depth) * g.padded;
  }
  for (int l = 0; l < TERMS; ++l) {
    const int depth = (TERMS - l) * g.padded;
    const Product<T> back{depth, buffers.outputs, pixel_step, 1, panels, 0, zero_row<T>(), 0,
                          buffers.table + l * plane, g.padded};
    multiply_packed(back, pixels, g.padded);
    panels += static_cast<long>(depth) * g.padded;
  }
  clock.lap(kMixingWork);
  const Line line{g.width, g.padded};
  for (int y = first; y < end; ++y) {
    const long row = static_cast<long>(y) * g.width * g.padded;
    const T* slopes = buffers.table + static_cast<long>(y - first) * g.width * g.padded;
    if (gradient.row_bank)
      correlate<T, TERMS>(in + row, g.padded, slopes, plane, buffers.zeros, gradient.row_bank, kernel.half, line);
    synthesise<T, TERMS>(slopes, g.padded, plane, in_gradient + row, kernel.adjoint_bank, kernel.half, line);
  }
  clock.lap(kFilterWork);
}

// in_gradient = d/d in, and the parameters' gradients added to `gradient`; `mixed` is what convolve left.
template <class T, int TERMS>
void convolve_gradient(const Geometry& g, const SeparableKernel<T>& kernel, T time, const T* in, const T* mixed,
                       const T* out_gradient, T* in_gradient, const SeparableBuffers<T>& buffers,
                       SeparableGradient<T>& gradient, WorkClock& clock) {
  const int row = g.width * g.padded, lanes = Lanes<T>::count;
  std::fill(buffers.column_sums, buffers.column_sums + static_cast<long>(TERMS) * row, T(0));
  for (int first = 0; first < g.height; first += g.strip_rows()) {
    const int end = std::min(g.height, first + g.strip_rows());
    filter_rows<T, TERMS>(g, kernel, in, first, end, buffers.inputs);
    for (int x = 0; x < g.width; ++x)
      analyse<T, TERMS>(out_gradient + static_cast<long>(x) * g.padded, row,
                        buffers.outputs + (static_cast<long>(x) - static_cast<long>(first) * g.width) * TERMS * g.padded,
                        static_cast<long>(row) * TERMS, g.padded, kernel.adjoint_bank, kernel.half, first, end,
                        Line{g.height, g.padded});
    for (int pixel = 0; pixel < (end - first) * g.width; ++pixel)
      for (int k = 0; k < TERMS; ++k) {
        const T* slopes = buffers.outputs + static_cast<long>(pixel * TERMS + k) * g.padded;
        T* sums = buffers.column_sums + (static_cast<long>(k) * g.width + pixel % g.width) * g.padded;
        for (int c = 0; c < g.padded; c += lanes) store<T>(sums + c, load(sums + c) + load(slopes + c));
      }
    clock.lap(kFilterWork);
    convolve_strip_gradient<T, TERMS>(g, kernel, in, in_gradient, first, end, buffers, gradient, clock);
  }
  if (gradient.column_bank)
    correlate<T, TERMS>(out_gradient, row, mixed, g.size(), buffers.zeros, gradient.column_bank, kernel.half,
                        Line{g.height, row});
  time_gradient<T, TERMS>(g, kernel, time, buffers, gradient);
  clock.lap(kFilterWork);
}

}  // namespace dcnbio
