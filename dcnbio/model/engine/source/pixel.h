// A dense k x k convolution, one kernel row at a time: gather the k neighbours along x, multiply, add.
#pragma once

#include <algorithm>

#include "gemm.h"
#include "geometry.h"
#include "scratch.h"

namespace dcnbio {

template <class T>
struct PixelKernel {
  int half;
  const T *panels, *adjoint_panels;  // per kernel row dy: [dx * padded + c][padded]
  const T *time_map, *bias;          // [pixel][padded], the response to a plane of ones; [padded]
};

template <class T>
struct PixelGradient {
  T *weights, *time_rows, *bias;  // [dy][dx * padded + c][padded], [dy][dx][padded], [padded]
};

template <class T>
struct PixelBuffers {
  T* neighbours;
  T* column_sums;

  PixelBuffers() = default;
  PixelBuffers(const Geometry& g, int half, Scratch& scratch) {
    neighbours = scratch.take<T>(static_cast<long>(g.strip_pixels()) * (2 * half + 1) * g.padded);
    column_sums = scratch.take<T>(static_cast<long>(g.width) * g.padded);
  }
};

// Rows first..end of the output whose neighbour dy rows below lies on the map.
struct RowRange {
  int first, end;
  RowRange(const Geometry& g, int first_row, int end_row, int dy)
      : first(std::max(first_row, -dy)), end(std::min(end_row, g.height - dy)) {}
};

template <class T>
void gather_row(const Geometry& g, int half, const T* row, T* out) {
  const int width = (2 * half + 1) * g.padded;
  for (int x = 0; x < g.width; ++x, out += width) {
    const int first = std::max(0, x - half), end = std::min(g.width, x + half + 1);
    T* start = out + static_cast<long>(first - x + half) * g.padded;
    std::fill(out, start, T(0));
    T* stop = std::copy(row + static_cast<long>(first) * g.padded, row + static_cast<long>(end) * g.padded, start);
    std::fill(stop, out + width, T(0));
  }
}

template <class T>
void gather_rows(const Geometry& g, int half, const T* in, RowRange rows, int dy, T* out) {
  const long row = static_cast<long>(g.width) * g.padded;
  for (int y = rows.first; y < rows.end; ++y)
    gather_row(g, half, in + (y + dy) * row, out + (y - rows.first) * row * (2 * half + 1));
}

// out += in convolved with the panels.
template <class T>
void convolve_pixels(const Geometry& g, int half, const T* panels, const T* in, T* out, const PixelBuffers<T>& buffers,
                     WorkClock& clock) {
  const int depth = (2 * half + 1) * g.padded;
  for (int first = 0; first < g.height; first += g.strip_rows())
    for (int dy = -half; dy <= half; ++dy) {
      const RowRange rows(g, first, std::min(g.height, first + g.strip_rows()), dy);
      if (rows.first >= rows.end) continue;
      gather_rows(g, half, in, rows, dy, buffers.neighbours);
      clock.lap(kFilterWork);
      T* target = out + static_cast<long>(rows.first) * g.width * g.padded;
      const Product<T> product{depth, buffers.neighbours, depth, 1, panels + (dy + half) * static_cast<long>(depth) *
                               g.padded, 0, target, g.padded, target, g.padded};
      multiply_packed(product, static_cast<long>(rows.end - rows.first) * g.width, g.padded);
      clock.lap(kMixingWork);
    }
}

template <class T>
void convolve(const Geometry& g, const PixelKernel<T>& kernel, T time, const T* in, T* out,
              const PixelBuffers<T>& buffers, WorkClock& clock) {
  constexpr int lanes = Lanes<T>::count;
  for (long i = 0; i < g.size(); i += g.padded)
    for (int c = 0; c < g.padded; c += lanes)
      store<T>(out + i + c, load(kernel.bias + c) + load(kernel.time_map + i + c) * time);
  convolve_pixels(g, kernel.half, kernel.panels, in, out, buffers, clock);
}

template <class T>
void pixel_time_gradient(const Geometry& g, int half, int dy, T time, const T* out_gradient,
                         const PixelBuffers<T>& buffers, T* time_rows) {
  constexpr int lanes = Lanes<T>::count;
  const long row = static_cast<long>(g.width) * g.padded;
  T* sums = buffers.column_sums;
  std::fill(sums, sums + row, T(0));
  const RowRange rows(g, 0, g.height, dy);
  for (int y = rows.first; y < rows.end; ++y)
    for (long i = 0; i < row; i += lanes) store<T>(sums + i, load(sums + i) + load(out_gradient + y * row + i));
  for (int dx = -half; dx <= half; ++dx)
    for (int c = 0; c < g.padded; c += lanes) {
      Vector<T> sum{};
      for (int x = std::max(0, -dx); x < std::min(g.width, g.width - dx); ++x)
        sum += load(sums + static_cast<long>(x) * g.padded + c);
      T* row_gradient = time_rows + (dx + half) * g.padded + c;
      store<T>(row_gradient, load(row_gradient) + sum * time);
    }
}

template <class T>
void bias_gradient(const Geometry& g, const T* out_gradient, T* bias) {
  for (int c = 0; c < g.padded; c += Lanes<T>::count) {
    Vector<T> sum{};
    for (long i = c; i < g.size(); i += g.padded) sum += load(out_gradient + i);
    store<T>(bias + c, load(bias + c) + sum);
  }
}

template <class T>
void convolve_gradient(const Geometry& g, const PixelKernel<T>& kernel, T time, const T* in, const T* out_gradient,
                       T* in_gradient, const PixelBuffers<T>& buffers, PixelGradient<T>& gradient, WorkClock& clock) {
  const int half = kernel.half, size = 2 * half + 1, depth = size * g.padded;
  const long row = static_cast<long>(g.width) * g.padded;
  std::fill(in_gradient, in_gradient + g.size(), T(0));
  convolve_pixels(g, half, kernel.adjoint_panels, out_gradient, in_gradient, buffers, clock);
  for (int first = 0; first < g.height; first += g.strip_rows())
    for (int dy = -half; dy <= half; ++dy) {
      const RowRange rows(g, first, std::min(g.height, first + g.strip_rows()), dy);
      if (rows.first >= rows.end) continue;
      gather_rows(g, half, in, rows, dy, buffers.neighbours);
      clock.lap(kFilterWork);
      const Product<T> outer{(rows.end - rows.first) * g.width, buffers.neighbours, 1, depth,
                             out_gradient + rows.first * row, g.padded, nullptr, 0,
                             gradient.weights + (dy + half) * static_cast<long>(depth) * g.padded, g.padded};
      multiply_accumulate(outer, depth, g.padded);
      clock.lap(kMixingWork);
    }
  for (int dy = -half; dy <= half; ++dy)
    pixel_time_gradient(g, half, dy, time, out_gradient, buffers, gradient.time_rows + (dy + half) * depth);
  bias_gradient(g, out_gradient, gradient.bias);
  clock.lap(kFilterWork);
}

}  // namespace dcnbio
