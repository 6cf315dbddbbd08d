// Solutions between steps: sums of a step's states and slopes, written plane by plane.

#include "abi.h"
#include "guarded.h"
#include "parallel.h"
#include "simd.h"

namespace dcnbio {

constexpr int kParts = 5;  // y0, y1, y_mid, f0, f1

// out[channel][pixel] = sum_i weight_i part_i[pixel][channel], in the order of the parts.
template <class T>
void add_up(long pixels, long channels, const T* const* parts, const T* weights, T* out) {
  constexpr int lanes = Lanes<T>::count;
  for (long first = 0; first < channels; first += lanes) {
    const int width = static_cast<int>(channels - first < lanes ? channels - first : lanes);
    for (long start = 0; start < pixels; start += lanes) {
      const int rows = static_cast<int>(pixels - start < lanes ? pixels - start : lanes);
      T tile[lanes][lanes];
      for (int r = 0; r < rows; ++r) {
        const long at = (start + r) * channels + first;
        if (width == lanes) {
          Vector<T> sum = load(parts[0] + at) * weights[0];
          for (int i = 1; i < kParts; ++i) sum += load(parts[i] + at) * weights[i];
          store<T>(tile[r], sum);
        } else {
          for (int c = 0; c < width; ++c) {
            T sum = parts[0][at + c] * weights[0];
            for (int i = 1; i < kParts; ++i) sum += parts[i][at + c] * weights[i];
            tile[r][c] = sum;
          }
        }
      }
      for (int c = 0; c < width; ++c) {
        T* row = out + (first + c) * pixels + start;
        for (int r = 0; r < rows; ++r) row[r] = tile[r][c];
      }
    }
  }
}

template <class T>
int dense(const DcnbioDense* dense) {
  return guarded([&] {
    const long size = static_cast<long>(dense->pixels) * dense->channels;
    run_parallel(dense->count, dense->threads, [&](auto next) {
      for (long k = next(); k >= 0; k = next()) {
        const T* parts[kParts];
        for (int i = 0; i < kParts; ++i) parts[i] = static_cast<const T*>(dense->parts[i]) + dense->rows[k] * size;
        add_up(dense->pixels, dense->channels, parts, static_cast<const T*>(dense->weights) + k * kParts,
               static_cast<T*>(dense->path) + dense->places[k] * size);
      }
    });
  });
}

}  // namespace dcnbio

extern "C" {
int dcnbio_dense_float32(const DcnbioDense* dense) { return dcnbio::dense<float>(dense); }
int dcnbio_dense_float64(const DcnbioDense* dense) { return dcnbio::dense<double>(dense); }
}
