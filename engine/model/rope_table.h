// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_ENGINE_MODEL_ROPE_TABLE_H_
#define HALYARD_ENGINE_MODEL_ROPE_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/config.h"

namespace halyard::engine {

/// Cosines and sines for the op `rope`: [positions, size / 2, 2], computed in double.
/// `frequency_factors`: each pair's frequency is divided by its own (Llama 3.1 and on); or empty.
std::vector<float> MakeRopeTable(const RopeConfig& rope, int64_t size, int64_t positions,
                                 absl::Span<const float> frequency_factors);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_MODEL_ROPE_TABLE_H_
