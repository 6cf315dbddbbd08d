// The plain C structures that Python fills in. Every array is contiguous and of the field's dtype unless it says so.
#pragma once

#include <cstdint>

extern "C" {

// kSpectral is a pixel kernel whose rows are multiplied as frequencies; it has one weight set.
enum { kSeparable = 0, kPixel = 1, kSpectral = 2 };

struct DcnbioConvolution {
  int32_t kind;
  int32_t order;        // N of a separable kernel
  int32_t size;         // taps of a filter, or width of a pixel kernel; odd
  int32_t weight_sets;  // 1, or one per stage
  int64_t taps_image_stride, taps_stage_stride;  // elements; 0 where the taps are shared
  const int32_t* pairs;  // [k][l] -> index f of basis function (k along y, l along x), -1 where k + l > N
  const void* taps;      // [N + 1][size]
  const void* weight;    // alphas [set][f][C + 1][C], or pixel weights [set][C][C + 1][size][size]
  const void* bias;      // [C] or null
  void *packed, *packed_adjoint;  // dcnbio_packed_size elements each, filled by dcnbio_pack; adjoint for gradients
  void *taps_gradient, *weight_gradient, *bias_gradient;  // added to; taps and bias may be null
};

struct DcnbioField {
  int32_t height, width, channels, groups, activation;
  double epsilon;
  DcnbioConvolution convolution[2];
  const void *norm_weight[3], *norm_bias[3];
  void *norm_weight_gradient[3], *norm_bias_gradient[3];
};

// A convolution outside an ODE block: [image][y][x][channel], zero padding of (size - 1) / 2, no time channel.
struct DcnbioLayer {
  int64_t images;
  int32_t threads, height, width, channels_in, channels_out, order, size, stride;
  const int32_t* pairs;
  const void *taps, *alphas;               // [N + 1][size], [f][channels_in][channels_out]
  void *taps_gradient, *alphas_gradient;  // added to; may be null
};

// Solutions between steps: map places[k] of the path = sum of weights[k][i] times part i of images rows[k].
struct DcnbioDense {
  int64_t count;
  int32_t threads, pixels, channels;
  const int64_t *rows, *places;
  const void* weights;   // [k][5]
  const void* parts[5];  // y0, y1, y_mid, f0, f1: [row][y][x][channel]
  void* path;            // [map][channel][y][x]
};

struct DcnbioBatch {
  int64_t images;
  int32_t threads;
  const double *time, *step;  // per image
  double rtol, atol;
  const void *state, *slope;                   // y0, f0: [image][y][x][channel]; a gradient may lack f0
  void *next, *next_slope, *middle;            // y1, f1, y_mid
  double* error;                               // per image
  // Gradients with respect to y1, f1, y_mid and (beyond the step itself) f0; null counts as zero.
  const void *next_gradient, *next_slope_gradient, *middle_gradient, *first_slope_gradient;
  void *state_gradient, *slope_gradient;  // slope_gradient where `slope` was given; else y0 answers for f0
  double* seconds;  // [4] filters, mixing, norm, combinations; added to
};

}  // extern "C"
