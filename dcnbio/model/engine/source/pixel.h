// A dense k x k convolution, one kernel row at a time: gather the k neighbours along x, multiply, add.
#pragma once

#include <algorithm>

#include "gemm.h"
#include "geometry.h"
#include "scratch.h"
#include "time_plane.h"

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

// One convolution of one image at one time.
template <class T>
class PixelConvolution {
 public:
  PixelConvolution(const Geometry& g, const PixelKernel<T>& kernel, T time, const PixelBuffers<T>& buffers,
                   WorkClock& clock)
      : g_(g), kernel_(kernel), time_(time), buffers_(buffers), clock_(clock), row_(g.width * g.padded) {}

  void forward(const T* in, T* out) {
    start_from_time(g_, kernel_.time_map, kernel_.bias, time_, out);
    add_products(kernel_.panels, in, out);
  }

  // in_gradient = d/d in, and the parameters' gradients added to `sums`.
  void backward(const T* in, const T* out_gradient, T* in_gradient, PixelGradient<T>& sums) {
    std::fill(in_gradient, in_gradient + g_.size(), T(0));
    add_products(kernel_.adjoint_panels, out_gradient, in_gradient);
    each_kernel_row(in, [&](RowRange rows, int tap_row) {
      const Product<T> outer{(rows.end - rows.first) * g_.width, buffers_.neighbours, 1, depth(),
                             out_gradient + rows.first * row_, g_.padded, nullptr, 0,
                             sums.weights + tap_row * panel(), g_.padded};
      multiply_accumulate(outer, depth(), g_.padded);
    });
    for (int dy = -kernel_.half; dy <= kernel_.half; ++dy)
      add_time_gradient(g_, kernel_.half, dy, time_, out_gradient, buffers_.column_sums,
                        sums.time_rows + (dy + kernel_.half) * depth());
    add_bias_gradient(g_, out_gradient, sums.bias);
    clock_.lap(kFilterWork);
  }

 private:
  int depth() const { return (2 * kernel_.half + 1) * g_.padded; }
  long panel() const { return static_cast<long>(depth()) * g_.padded; }

  // Calls body(rows, kernel row) for each strip of output rows and kernel row, their neighbours gathered from `in`.
  template <class Body>
  void each_kernel_row(const T* in, Body body) {
    for (int first = 0; first < g_.height; first += g_.strip_rows())
      for (int dy = -kernel_.half; dy <= kernel_.half; ++dy) {
        const RowRange rows(g_, first, std::min(g_.height, first + g_.strip_rows()), dy);
        if (rows.first >= rows.end) continue;
        gather_rows(g_, kernel_.half, in, rows, dy, buffers_.neighbours);
        clock_.lap(kFilterWork);
        body(rows, dy + kernel_.half);
        clock_.lap(kMixingWork);
      }
  }

  // out += in convolved with the panels.
  void add_products(const T* panels, const T* in, T* out) {
    each_kernel_row(in, [&](RowRange rows, int tap_row) {
      T* target = out + rows.first * row_;
      const Product<T> product{depth(), buffers_.neighbours, depth(), 1, panels + tap_row * panel(), 0, target,
                               g_.padded, target, g_.padded};
      multiply_packed(product, static_cast<long>(rows.end - rows.first) * g_.width, g_.padded);
    });
  }

  const Geometry& g_;
  const PixelKernel<T>& kernel_;
  T time_;
  const PixelBuffers<T>& buffers_;
  WorkClock& clock_;
  long row_;
};

}  // namespace dcnbio
