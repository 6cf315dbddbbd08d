// The entry points of single convolutions.

#include "layer.h"

#include <memory>

#include "guarded.h"
#include "parallel.h"

namespace dcnbio {

// Calls body(worker, item) for every item in 0..items-1, each thread with its own worker.
template <class T, int TERMS, class Body>
void with_workers(const DcnbioLayer& layer, long items, Body body) {
  const LayerWeights<T> weights(layer);
  run_parallel(items, layer.threads, [&](auto next) {
    std::unique_ptr<Scratch> scratch =
        ScratchPool::borrow(LayerWorker<T, TERMS>::scratch_bytes(LayerShape<T>(layer)));
    LayerWorker<T, TERMS> worker(layer, weights, *scratch);
    for (long item = next(); item >= 0; item = next()) body(worker, item);
    ScratchPool::give_back(std::move(scratch));
  });
}

template <class T, int TERMS>
void layer_forward(const DcnbioLayer& layer, const T* in, T* out) {
  const LayerShape<T> s(layer);
  const long in_size = static_cast<long>(s.height) * s.width * layer.channels_in;
  const long out_size = static_cast<long>(s.out_height()) * s.out_width() * layer.channels_out;
  with_workers<T, TERMS>(layer, layer.images, [&](LayerWorker<T, TERMS>& worker, long image) {
    worker.forward(in + image * in_size, out + image * out_size);
  });
}

template <class T, int TERMS>
void layer_backward(const DcnbioLayer& layer, const T* in, const T* out_gradient, T* in_gradient) {
  const LayerShape<T> s(layer);
  const long in_size = static_cast<long>(s.height) * s.width * layer.channels_in;
  const long out_size = static_cast<long>(s.out_height()) * s.out_width() * layer.channels_out;
  const long chunks = std::min<long>(layer.images, 16);  // as for fields: by the batch alone, added in order
  std::vector<std::unique_ptr<LayerGradient<T>>> sums(chunks);
  with_workers<T, TERMS>(layer, chunks, [&](LayerWorker<T, TERMS>& worker, long chunk) {
    sums[chunk] = std::make_unique<LayerGradient<T>>(s);
    const long end = layer.images * (chunk + 1) / chunks;
    for (long image = layer.images * chunk / chunks; image < end; ++image)
      worker.backward(in + image * in_size, out_gradient + image * out_size, in_gradient + image * in_size,
                      *sums[chunk]);
  });
  for (long chunk = 1; chunk < chunks; ++chunk) sums[0]->add(*sums[chunk]);
  if (chunks > 0) sums[0]->release(layer, s);
}

template <class Body>
int with_order(int order, Body body) {
  return guarded([&] {
    switch (order) {
      case 0: return body(std::integral_constant<int, 1>{});
      case 1: return body(std::integral_constant<int, 2>{});
      case 2: return body(std::integral_constant<int, 3>{});
      case 3: return body(std::integral_constant<int, 4>{});
      default: return body(std::integral_constant<int, 5>{});
    }
  });
}

template <class T>
int forward(const DcnbioLayer* layer, const void* in, void* out) {
  return with_order(layer->order, [&](auto terms) {
    layer_forward<T, decltype(terms)::value>(*layer, static_cast<const T*>(in), static_cast<T*>(out));
  });
}

template <class T>
int backward(const DcnbioLayer* layer, const void* in, const void* out_gradient, void* in_gradient) {
  return with_order(layer->order, [&](auto terms) {
    layer_backward<T, decltype(terms)::value>(*layer, static_cast<const T*>(in), static_cast<const T*>(out_gradient),
                                              static_cast<T*>(in_gradient));
  });
}

}  // namespace dcnbio

extern "C" {
int dcnbio_layer_float32(const DcnbioLayer* layer, const void* in, void* out) {
  return dcnbio::forward<float>(layer, in, out);
}
int dcnbio_layer_float64(const DcnbioLayer* layer, const void* in, void* out) {
  return dcnbio::forward<double>(layer, in, out);
}
int dcnbio_layer_gradient_float32(const DcnbioLayer* layer, const void* in, const void* out_gradient,
                                  void* in_gradient) {
  return dcnbio::backward<float>(layer, in, out_gradient, in_gradient);
}
int dcnbio_layer_gradient_float64(const DcnbioLayer* layer, const void* in, const void* out_gradient,
                                  void* in_gradient) {
  return dcnbio::backward<double>(layer, in, out_gradient, in_gradient);
}
}
