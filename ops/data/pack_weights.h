// SPDX-License-Identifier: Apache-2.0
//
// Weights of any rank in a packed layout.
#ifndef HALYARD_OPS_DATA_PACK_WEIGHTS_H_
#define HALYARD_OPS_DATA_PACK_WEIGHTS_H_

#include <cstdint>

#include "halyard/kernel.h"

namespace halyard::ops {

/// Whether `layout` is for weights of this type and shape.
bool CanPack(const hy_layout_desc& layout, const hy_tensor& weights);

/// Bytes of the packed form: matrices 64-byte granular, one after the other.
uint64_t PackedBytes(const hy_layout_desc& layout, const hy_tensor& weights);

/// Packs a canonical tensor into `packed`, 64-byte aligned, as worker `index` of `count`.
void PackWeights(const hy_layout_desc& layout, const hy_tensor& weights, void* packed,
                 uint32_t index = 0, uint32_t count = 1);

/// The view of packed bytes: shape and type of `weights`, data and layout of the packed form.
hy_tensor PackedView(const hy_layout_desc& layout, const hy_tensor& weights, void* packed);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_PACK_WEIGHTS_H_
