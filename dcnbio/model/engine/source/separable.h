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
  Bank<T> bank, adjoint_bank;  // odd filters change sign under the adjoint
  const T *panels, *adjoint_panels;
  const T* time_rows;  // [terms (k)][terms (l)][padded], the time channel's alphas
};

template <class T>
struct SeparableGradient {
  T *weights, *time_rows;          // [k][l * padded + c][padded], [k][l][padded]
  double *row_bank, *column_bank;  // [half + 1][terms] each, or null where the taps' gradient is not wanted
};

constexpr long mixing_rows(int terms, int padded) { return static_cast<long>(terms) * (terms + 1) / 2 * padded; }

// Both axes see the same taps.
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
void edge_profile(Bank<T> bank, int terms, int width, T* profile) {
  for (int m = 0; m < terms; ++m)
    for (int x = 0; x < width; ++x) {
      T low = 0, high = 0;
      for (int j = 1; j <= std::min(bank.half, x); ++j) low += bank.taps[j * terms + m];
      for (int j = 1; j <= std::min(bank.half, width - 1 - x); ++j) high += bank.taps[j * terms + m];
      profile[m * width + x] = m % 2 ? high - low : bank.taps[m] + high + low;
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

// One convolution of one image at one time. TERMS is N + 1.
template <class T, int TERMS>
class SeparableConvolution {
 public:
  SeparableConvolution(const Geometry& g, const SeparableKernel<T>& kernel, T time, const SeparableBuffers<T>& buffers,
                       WorkClock& clock)
      : g_(g), kernel_(kernel), time_(time), buffers_(buffers), clock_(clock), row_(g.width * g.padded) {}

  // mixed_k = sum_l A_kl (Gx_l in) for every k, [k][pixel][padded]; then out = sum_k Gy_k mixed_k.
  void forward(const T* in, T* mixed, T* out) {
    edge_profile(kernel_.bank, TERMS, g_.width, buffers_.profile);
    fill_time_table();
    for (int first = 0; first < g_.height; first += g_.strip_rows()) {
      const int end = std::min(g_.height, first + g_.strip_rows());
      filter_rows(in, first, end);
      clock_.lap(kFilterWork);
      mix(first, end, mixed);
      clock_.lap(kMixingWork);
    }
    synthesise<T, TERMS>({mixed, row_, g_.size()}, {out, row_}, kernel_.bank, Line{g_.height, row_});
    clock_.lap(kFilterWork);
  }

  // in_gradient = d/d in, and the parameters' gradients added to `sums`; `mixed` is what forward left.
  void backward(const T* in, const T* mixed, const T* out_gradient, T* in_gradient, SeparableGradient<T>& sums) {
    std::fill(buffers_.column_sums, buffers_.column_sums + static_cast<long>(TERMS) * row_, T(0));
    for (int first = 0; first < g_.height; first += g_.strip_rows()) {
      const int end = std::min(g_.height, first + g_.strip_rows());
      filter_rows(in, first, end);
      filter_columns_back(out_gradient, first, end);
      clock_.lap(kFilterWork);
      mix_back((end - first) * g_.width, sums.weights);
      clock_.lap(kMixingWork);
      for (int y = first; y < end; ++y) filter_row_back(in, in_gradient, y, y - first, sums);
      clock_.lap(kFilterWork);
    }
    if (sums.column_bank)
      correlate<T, TERMS>({out_gradient, row_}, {mixed, row_, g_.size()}, tap_sums(sums.column_bank),
                          Line{g_.height, row_});
    time_gradient(sums);
    clock_.lap(kFilterWork);
  }

 private:
  TapSums<T> tap_sums(double* gradient) const { return {gradient, buffers_.zeros, kernel_.bank.half}; }
  Line row_line() const { return {g_.width, g_.padded}; }
  long strip_plane() const { return static_cast<long>(g_.strip_pixels()) * g_.padded; }

  // The time channel is t at every pixel, so its mixed rows depend on x alone: [k][strip pixel][padded].
  void fill_time_table() {
    constexpr int lanes = Lanes<T>::count;
    for (int k = 0; k < TERMS; ++k) {
      T* rows = buffers_.table + k * strip_plane();
      for (int x = 0; x < g_.width; ++x)
        for (int c = 0; c < g_.padded; c += lanes) {
          Vector<T> sum{};
          for (int l = 0; k + l < TERMS; ++l)
            sum += load(kernel_.time_rows + (k * TERMS + l) * g_.padded + c) *
                   (time_ * buffers_.profile[l * g_.width + x]);
          store(rows + static_cast<long>(x) * g_.padded + c, sum);
        }
      for (int y = 1; y < g_.strip_rows(); ++y) std::copy(rows, rows + row_, rows + static_cast<long>(y) * row_);
    }
  }

  // inputs[pixel of the strip][l][padded] = Gx_l in
  void filter_rows(const T* in, int first, int end) {
    for (int y = first; y < end; ++y)
      analyse<T, TERMS>({in + static_cast<long>(y) * row_, g_.padded},
                        {buffers_.inputs + static_cast<long>(y - first) * row_ * TERMS, g_.padded * TERMS, g_.padded},
                        kernel_.bank, 0, g_.width, row_line());
  }

  void mix(int first, int end, T* mixed) {
    const T* panels = kernel_.panels;
    for (int k = 0; k < TERMS; ++k) {
      const int depth = (TERMS - k) * g_.padded;
      const Product<T> product{depth, buffers_.inputs, TERMS * g_.padded, 1, panels, 0,
                               buffers_.table + k * strip_plane(), g_.padded,
                               mixed + k * g_.size() + static_cast<long>(first) * row_, g_.padded};
      multiply_packed(product, static_cast<long>(end - first) * g_.width, g_.padded);
      panels += static_cast<long>(depth) * g_.padded;
    }
  }

  // outputs[pixel of the strip][k][padded] = adjoint of Gy_k on out_gradient, the gradient of the mixed maps; and its
  // sums over y, which is all the time channel needs.
  void filter_columns_back(const T* out_gradient, int first, int end) {
    const long pixel = static_cast<long>(TERMS) * g_.padded;
    for (int x = 0; x < g_.width; ++x)
      analyse<T, TERMS>({out_gradient + static_cast<long>(x) * g_.padded, row_},
                        {buffers_.outputs + (x - static_cast<long>(first) * g_.width) * pixel,
                         static_cast<long>(row_) * TERMS, g_.padded},
                        kernel_.adjoint_bank, first, end, Line{g_.height, g_.padded});
    for (int p = 0; p < (end - first) * g_.width; ++p)
      for (int k = 0; k < TERMS; ++k) {
        const T* slopes = buffers_.outputs + p * pixel + k * g_.padded;
        T* sums = buffers_.column_sums + (static_cast<long>(k) * g_.width + p % g_.width) * g_.padded;
        for (int c = 0; c < g_.padded; c += Lanes<T>::count) store<T>(sums + c, load(sums + c) + load(slopes + c));
      }
  }

  // Gradients of the weights, and of the row-filtered inputs (into table, [l][pixel of the strip][padded]).
  void mix_back(int pixels, T* weights) {
    const long pixel = static_cast<long>(TERMS) * g_.padded;
    const T* panels = kernel_.adjoint_panels;
    for (int k = 0; k < TERMS; ++k) {
      const int depth = (TERMS - k) * g_.padded;
      const Product<T> outer{pixels, buffers_.inputs, 1, pixel, buffers_.outputs + k * g_.padded, pixel, nullptr, 0,
                             weights, g_.padded};
      multiply_accumulate(outer, depth, g_.padded);
      weights += static_cast<long>(depth) * g_.padded;
    }
    for (int l = 0; l < TERMS; ++l) {
      const int depth = (TERMS - l) * g_.padded;
      const Product<T> back{depth, buffers_.outputs, pixel, 1, panels, 0, zero_row<T>(), 0,
                            buffers_.table + l * strip_plane(), g_.padded};
      multiply_packed(back, pixels, g_.padded);
      panels += static_cast<long>(depth) * g_.padded;
    }
  }

  void filter_row_back(const T* in, T* in_gradient, int y, int strip_row, SeparableGradient<T>& sums) {
    const long row = static_cast<long>(y) * row_;
    const Maps<const T> slopes{buffers_.table + static_cast<long>(strip_row) * row_, g_.padded, strip_plane()};
    if (sums.row_bank) correlate<T, TERMS>({in + row, g_.padded}, slopes, tap_sums(sums.row_bank), row_line());
    synthesise<T, TERMS>(slopes, {in_gradient + row, g_.padded}, kernel_.adjoint_bank, row_line());
  }

  // What the time channel owes to its alphas and taps, from the column sums of the mixed maps' gradient.
  void time_gradient(SeparableGradient<T>& sums) {
    edge_profile(kernel_.bank, TERMS, g_.width, buffers_.profile);
    for (int x = 0; x < g_.width; ++x)
      for (int l = 0; l < TERMS; ++l) {
        const T weight = time_ * buffers_.profile[l * g_.width + x];
        T slope = 0;
        for (int k = 0; k + l < TERMS; ++k) {
          const T* column = buffers_.column_sums + (static_cast<long>(k) * g_.width + x) * g_.padded;
          const long row = static_cast<long>(k * TERMS + l) * g_.padded;
          for (int c = 0; c < g_.padded; ++c) {
            sums.time_rows[row + c] += weight * column[c];
            slope += kernel_.time_rows[row + c] * column[c];
          }
        }
        if (sums.row_bank) add_profile_gradient(x, l, static_cast<double>(time_ * slope), sums.row_bank);
      }
  }

  void add_profile_gradient(int x, int l, double slope, double* bank) {
    for (int j = l % 2; j <= kernel_.bank.half; ++j) {
      const int above = x + j < g_.width, below = j > 0 && j <= x;
      bank[j * TERMS + l] += slope * (l % 2 ? above - below : above + below);
    }
  }

  const Geometry& g_;
  const SeparableKernel<T>& kernel_;
  T time_;
  const SeparableBuffers<T>& buffers_;
  WorkClock& clock_;
  int row_;
};

}  // namespace dcnbio
