// The entry points: whole batches of evaluations and steps, and their derivatives.

#include <memory>
#include <mutex>
#include <system_error>

#include "abi.h"
#include "guarded.h"
#include "parallel.h"
#include "step.h"

namespace dcnbio {

// Upper bound of what a Stepper takes from its scratch.
template <class T>
long scratch_bytes(const DcnbioField& field, bool recording) {
  const Geometry g = geometry_of<T>(field);
  long maps = 2 + 2 * kStages + kStages + 1, tape_maps = 2, small = 64 * g.padded, strips = 0;
  for (const DcnbioConvolution& c : field.convolution) {
    const long terms = c.order + 1;
    if (c.kind == kSeparable) {
      tape_maps += terms;
      strips += 3 * terms * g.strip_pixels() * g.padded + (terms + 1) * g.width * (g.padded + 1);
      small += 8 * c.size * terms;
    } else if (c.kind == kSpectral) {
      strips += SpectralBuffers<T>::elements(g, c.size / 2, recording);
    } else {
      strips += static_cast<long>(g.strip_pixels()) * c.size * g.padded + static_cast<long>(g.width) * g.padded;
    }
  }
  const long tapes = recording ? kStages : 1;
  const long elements = (maps + tapes * tape_maps) * g.size() + strips + small + tapes * 16 * g.padded;
  return elements * static_cast<long>(sizeof(T)) + 1024 * kAlignment;
}

template <class T>
class Run {
 public:
  Run(const DcnbioField& field, const DcnbioBatch& batch, bool recording)
      : field_(field), batch_(batch), recording_(recording) {}

  template <class PerImage>
  void each_image(PerImage per_image) {
    run_parallel(batch_.images, batch_.threads, [&](auto next) {
      with_stepper([&](Stepper<T>& stepper) {
        for (long image = next(); image >= 0; image = next()) per_image(stepper, image);
      });
    });
  }

  template <class PerImage>
  void each_chunk(PerImage per_image) {
    const Geometry g = geometry_of<T>(field_);
    const long chunks = chunk_count(g);
    std::vector<std::unique_ptr<Accumulator<T>>> sums(chunks);
    run_parallel(chunks, batch_.threads, [&](auto next) {
      with_stepper([&](Stepper<T>& stepper) {
        for (long chunk = next(); chunk >= 0; chunk = next()) {
          sums[chunk] = std::make_unique<Accumulator<T>>(field_, g);
          const long end = batch_.images * (chunk + 1) / chunks;
          for (long image = batch_.images * chunk / chunks; image < end; ++image)
            per_image(stepper, image, *sums[chunk]);
          stepper.flush(*sums[chunk]);
        }
      });
    });
    for (long chunk = 1; chunk < chunks; ++chunk) sums[0]->add(*sums[chunk]);
    if (chunks > 0) release(field_, g, *sums[0]);
  }

 private:
  // Sixteen chunks balance many threads; eight where their sums are large. Never a matter of the number of threads.
  long chunk_count(const Geometry& g) const {
    const long affordable = (24L << 20) / std::max(1L, Accumulator<T>::bytes(field_, g));
    return std::min<long>(batch_.images, std::clamp<long>(affordable, 8, 16));
  }

  template <class Body>
  void with_stepper(Body body) {
    std::unique_ptr<Scratch> scratch = ScratchPool::borrow(scratch_bytes<T>(field_, recording_));
    {
      Stepper<T> stepper(field_, batch_, recording_, *scratch);
      body(stepper);
      const std::lock_guard<std::mutex> lock(mutex_);
      for (int i = 0; batch_.seconds && i < kWorkKinds; ++i) batch_.seconds[i] += stepper.clock().seconds(i);
    }
    ScratchPool::give_back(std::move(scratch));
  }

  const DcnbioField& field_;
  const DcnbioBatch& batch_;
  bool recording_;
  std::mutex mutex_;
};

template <class T>
int evaluate(const DcnbioField* field, const DcnbioBatch* batch) {
  return guarded([&] {
    Run<T>(*field, *batch, false).each_image([](Stepper<T>& stepper, long image) {
      stepper.clock().restart();
      stepper.evaluate(image);
    });
  });
}

template <class T>
int attempt(const DcnbioField* field, const DcnbioBatch* batch) {
  return guarded([&] {
    Run<T>(*field, *batch, false).each_image([](Stepper<T>& stepper, long image) { stepper.attempt(image); });
  });
}

template <class T>
int evaluate_gradient(const DcnbioField* field, const DcnbioBatch* batch) {
  return guarded([&] {
    Run<T>(*field, *batch, true).each_chunk([](Stepper<T>& stepper, long image, Accumulator<T>& sums) {
      stepper.clock().restart();
      stepper.evaluate_gradient(image, sums);
    });
  });
}

template <class T>
int attempt_gradient(const DcnbioField* field, const DcnbioBatch* batch) {
  return guarded([&] {
    Run<T>(*field, *batch, true).each_chunk([](Stepper<T>& stepper, long image, Accumulator<T>& sums) {
      stepper.attempt_gradient(image, sums);
    });
  });
}

template <class T>
int64_t packed_size(const DcnbioField* field, int index, int adjoint) {
  const DcnbioConvolution& c = field->convolution[index];
  const Geometry g = geometry_of<T>(*field);
  return (adjoint ? panel_elements(g, c) : packed_elements(g, c)) * c.weight_sets;
}

template <class T>
void pack_field(const DcnbioField* field, int adjoint) {
  for (const DcnbioConvolution& c : field->convolution) pack<T>(geometry_of<T>(*field), c, adjoint != 0);
}

}  // namespace dcnbio

#define DCNBIO_ENTRY_POINTS(TYPE, SUFFIX)                                                              \
  int64_t dcnbio_packed_size_##SUFFIX(const DcnbioField* field, int index, int adjoint) {              \
    return dcnbio::packed_size<TYPE>(field, index, adjoint);                                           \
  }                                                                                                    \
  void dcnbio_pack_##SUFFIX(const DcnbioField* field, int adjoint) {                                   \
    dcnbio::pack_field<TYPE>(field, adjoint);                                                          \
  }                                                                                                    \
  int dcnbio_evaluate_##SUFFIX(const DcnbioField* field, const DcnbioBatch* batch) {                   \
    return dcnbio::evaluate<TYPE>(field, batch);                                                       \
  }                                                                                                    \
  int dcnbio_attempt_##SUFFIX(const DcnbioField* field, const DcnbioBatch* batch) {                    \
    return dcnbio::attempt<TYPE>(field, batch);                                                        \
  }                                                                                                    \
  int dcnbio_evaluate_gradient_##SUFFIX(const DcnbioField* field, const DcnbioBatch* batch) {          \
    return dcnbio::evaluate_gradient<TYPE>(field, batch);                                              \
  }                                                                                                    \
  int dcnbio_attempt_gradient_##SUFFIX(const DcnbioField* field, const DcnbioBatch* batch) {           \
    return dcnbio::attempt_gradient<TYPE>(field, batch);                                               \
  }

extern "C" {
DCNBIO_ENTRY_POINTS(float, float32)
DCNBIO_ENTRY_POINTS(double, float64)
}
