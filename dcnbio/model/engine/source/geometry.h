// The shape of one image's feature maps: channels-last, channels padded to whole vectors.
#pragma once

#include <algorithm>

namespace dcnbio {

struct Geometry {
  int height, width, channels, padded;
  int pixels() const { return height * width; }
  long size() const { return static_cast<long>(pixels()) * padded; }
  // About a hundred pixels: enough to fill register blocks evenly, few enough to stay near the core.
  int strip_rows() const { return std::max(1, std::min(height, 96 / width)); }
  int strip_pixels() const { return strip_rows() * width; }
};

}  // namespace dcnbio
