// A dense k x k convolution, Fourier transformed along x and direct along y.
//
// Along a row of W pixels a transform of length n = W + k/2 turns the k taps of a kernel row into one complex product
// per frequency. Rows stay rows: each frequency is a matrix product of the map's rows, k neighbours deep, with k C
// rows of the kernel. A complex product is three real ones (Gauss): with X = a + ib and K = c + id,
//   p = (a + b) c,  Re = p - b (c + d),  Im = p + a (d - c).
// That is 1.5 n k products of C numbers per row where the direct form has W k^2, about four times fewer at k = 7. The
// transforms themselves are small matrix products with a table of cosines, on all channels at once.
#pragma once

#include <algorithm>
#include <cmath>

#include "gemm.h"
#include "geometry.h"
#include "scratch.h"
#include "time_plane.h"

namespace dcnbio {

// The frequencies of real rows: 0 and, at even lengths, n / 2 are real; each other one is a pair of numbers, for whose
// products three planes are kept.
struct Spectrum {
  int width, half, length;
  Spectrum(int width, int half) : width(width), half(half), length(width + half) {}
  int reals() const { return 1 + (length % 2 == 0); }
  int pairs() const { return (length - 1) / 2; }
  int planes() const { return reals() + 3 * pairs(); }
  // The angle of real plane r, or of pair p, at pixel x.
  double real_angle(int r, long x) const { return turn(r ? length / 2 * x : 0); }
  double pair_angle(int p, long x) const { return turn((p + 1) * x); }
  double turn(long steps) const {
    return 2 * 3.14159265358979323846 * static_cast<double>((steps % length + length) % length) / length;
  }
};

inline long spectral_table_elements(const Spectrum& s) {
  return static_cast<long>(s.planes() + s.length) * s.width;
}

// analysis [planes][width]: a = sum x cos, b = -sum x sin, a + b; synthesis [width][length] undoes it.
template <class T>
void fill_spectral_tables(const Spectrum& s, T* analysis, T* synthesis) {
  for (int x = 0; x < s.width; ++x) {
    T* back = synthesis + static_cast<long>(x) * s.length;
    for (int r = 0; r < s.reals(); ++r) {
      const double value = std::cos(s.real_angle(r, x));
      analysis[static_cast<long>(r) * s.width + x] = static_cast<T>(value);
      back[r] = static_cast<T>(value / s.length);
    }
    for (int p = 0; p < s.pairs(); ++p) {
      const double angle = s.pair_angle(p, x), c = std::cos(angle), d = std::sin(angle);
      T* rows = analysis + static_cast<long>(s.reals() + 3 * p) * s.width + x;
      rows[0] = static_cast<T>(c);
      rows[s.width] = static_cast<T>(-d);
      rows[2 * s.width] = static_cast<T>(c - d);
      back[s.reals() + 2 * p] = static_cast<T>(2 * c / s.length);
      back[s.reals() + 2 * p + 1] = static_cast<T>(-2 * d / s.length);
    }
  }
}

template <class T>
struct SpectralKernel {
  Spectrum spectrum;
  const T *panels, *adjoint_panels;    // per plane: [dy * padded + c][padded]
  const T *time_map, *bias;            // [pixel][padded], the response to a plane of ones; [padded]
  const T *analysis, *synthesis;
};

template <class T>
struct SpectralGradient {
  T *planes, *time_rows, *bias;  // per plane [dy * padded + c][padded], [dy][dx][padded], [padded]
};

// Planes of several evaluations wait for each other, so that a plane's sums are fetched once for all of them: the sums
// of a small map are far larger than the map. `waiting` is also the place where the next planes go.
template <class T>
struct SpectralBuffers {
  T *inputs, *gradients, *outputs, *product, *column_sums;
  long plane, place;  // elements of one plane, and of all planes of one evaluation
  int room, waiting = 0;

  SpectralBuffers() = default;
  SpectralBuffers(const Geometry& g, int half, bool recording, Scratch& scratch)
      : plane(static_cast<long>(g.height + 2 * half) * g.padded),
        place(Spectrum(g.width, half).planes() * plane),
        room(recording ? places(g) : 1) {
    inputs = scratch.take<T>(room * place);
    gradients = scratch.take<T>(recording ? room * place : 0);
    // the rows above and below the map are never written
    std::fill(inputs, inputs + room * place, T(0));
    std::fill(gradients, gradients + (recording ? room * place : 0), T(0));
    outputs = scratch.take<T>(static_cast<long>(Spectrum(g.width, half).length) * g.height * g.padded);
    product = scratch.take<T>(static_cast<long>(g.height) * g.padded);
    column_sums = scratch.take<T>(static_cast<long>(g.width) * g.padded);
  }

  // About 64 rows.
  static int places(const Geometry& g) { return std::max(1, 64 / g.height); }

  static long elements(const Geometry& g, int half, bool recording) {
    const Spectrum s(g.width, half);
    const long planes = static_cast<long>(s.planes()) * (g.height + 2 * half) * (recording ? 2 * places(g) : 1);
    return (planes + static_cast<long>(s.length + 1) * g.height + g.width) * g.padded;
  }
};

// One convolution of one image at one time.
template <class T>
class SpectralConvolution {
 public:
  SpectralConvolution(const Geometry& g, const SpectralKernel<T>& kernel, T time, SpectralBuffers<T>& buffers,
                      WorkClock& clock)
      : g_(g),
        kernel_(kernel),
        s_(kernel.spectrum),
        time_(time),
        buffers_(buffers),
        clock_(clock) {}

  void forward(const T* in, T* out) {
    start_from_time(g_, kernel_.time_map, kernel_.bias, time_, out);
    T* planes = buffers_.inputs + buffers_.waiting * buffers_.place;
    analyse(in, planes);
    multiply(kernel_.panels, planes);
    synthesise(out);
  }

  // in_gradient = d/d in, and the parameters' gradients added to `sums`, those of the planes when `flush` is called.
  void backward(const T* in, const T* out_gradient, T* in_gradient, SpectralGradient<T>& sums) {
    std::fill(in_gradient, in_gradient + g_.size(), T(0));
    const long place = buffers_.waiting * buffers_.place;
    analyse(out_gradient, buffers_.gradients + place);
    multiply(kernel_.adjoint_panels, buffers_.gradients + place);
    synthesise(in_gradient);
    analyse(in, buffers_.inputs + place);
    if (++buffers_.waiting == buffers_.room) flush(sums.planes);
    for (int dy = -s_.half; dy <= s_.half; ++dy)
      add_time_gradient(g_, s_.half, dy, time_, out_gradient, buffers_.column_sums,
                        sums.time_rows + static_cast<long>(dy + s_.half) * (2 * s_.half + 1) * g_.padded);
    add_bias_gradient(g_, out_gradient, sums.bias);
    clock_.lap(kFilterWork);
  }

  // Adds what waits to the planes' sums.
  void flush(T* sums) {
    for (int r = 0; r < s_.reals(); ++r)
      for (int i = 0; i < buffers_.waiting; ++i) correlate(i, r, gradient_rows(i, r), sums);
    for (int p = 0; p < s_.pairs(); ++p)
      for (int i = 0; i < buffers_.waiting; ++i) correlate_pair(i, s_.reals() + 3 * p, sums);
    buffers_.waiting = 0;
    clock_.lap(kMixingWork);
  }

 private:
  int depth() const { return (2 * s_.half + 1) * g_.padded; }
  long panel() const { return static_cast<long>(depth()) * g_.padded; }
  long rows() const { return static_cast<long>(g_.height) * g_.padded; }

  void analyse(const T* in, T* planes) {
    for (int y = 0; y < g_.height; ++y) {
      const T* row = in + static_cast<long>(y) * g_.width * g_.padded;
      T* to = planes + static_cast<long>(y + s_.half) * g_.padded;
      multiply_rows(Product<T>{g_.width, kernel_.analysis, g_.width, 1, row, g_.padded, zero_row<T>(), 0, to, buffers_.plane},
                    s_.planes(), g_.padded);
    }
    clock_.lap(kFilterWork);
  }

  // out += what the output planes say.
  void synthesise(T* out) {
    for (int y = 0; y < g_.height; ++y) {
      T* row = out + static_cast<long>(y) * g_.width * g_.padded;
      const T* from = buffers_.outputs + static_cast<long>(y) * g_.padded;
      multiply_rows(Product<T>{s_.length, kernel_.synthesis, s_.length, 1, from, rows(), row, g_.padded, row, g_.padded},
                    g_.width, g_.padded);
    }
    clock_.lap(kFilterWork);
  }

  // out = start + plane times panel, for every row of the map.
  void multiply_plane(const T* planes, const T* panels, int index, const T* start, T* out) {
    const Product<T> product{depth(), planes + index * buffers_.plane, g_.padded, 1, panels + index * panel(), 0,
                             start ? start : zero_row<T>(), start ? g_.padded : 0, out, g_.padded};
    multiply_packed(product, g_.height, g_.padded);
  }

  void multiply(const T* panels, const T* planes) {
    for (int r = 0; r < s_.reals(); ++r) multiply_plane(planes, panels, r, nullptr, buffers_.outputs + r * rows());
    for (int p = 0; p < s_.pairs(); ++p) {
      const int first = s_.reals() + 3 * p;
      T* real = buffers_.outputs + (s_.reals() + 2 * p) * rows();
      multiply_plane(planes, panels, first + 2, nullptr, buffers_.product);
      multiply_plane(planes, panels, first, buffers_.product, real + rows());
      multiply_plane(planes, panels, first + 1, buffers_.product, real);
    }
    clock_.lap(kMixingWork);
  }

  const T* gradient_rows(int waiting, int index) const {
    return buffers_.gradients + waiting * buffers_.place + index * buffers_.plane + s_.half * g_.padded;
  }

  // sums += (rows of one input plane, k deep) times (rows of `gradient`).
  void correlate(int waiting, int index, const T* gradient, T* sums) {
    const T* input = buffers_.inputs + waiting * buffers_.place + index * buffers_.plane;
    const Product<T> outer{g_.height, input, 1, g_.padded, gradient, g_.padded,
                           nullptr, 0, sums + index * panel(), g_.padded};
    multiply_accumulate(outer, depth(), g_.padded);
  }

  // X conj(G) with G = e + ig: Re = e (a + b) - b (e - g), Im = e (a + b) - a (e + g).
  void correlate_pair(int waiting, int first, T* sums) {
    const T *e = gradient_rows(waiting, first), *g = gradient_rows(waiting, first + 1);
    for (long i = 0; i < rows(); i += Lanes<T>::count) store<T>(buffers_.product + i, load(e + i) - load(g + i));
    correlate(waiting, first, gradient_rows(waiting, first + 2), sums);
    correlate(waiting, first + 1, buffers_.product, sums);
    correlate(waiting, first + 2, e, sums);
  }

  const Geometry& g_;
  const SpectralKernel<T>& kernel_;
  const Spectrum& s_;
  T time_;
  SpectralBuffers<T>& buffers_;
  WorkClock& clock_;
};

}  // namespace dcnbio
