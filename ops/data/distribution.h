// SPDX-License-Identifier: Apache-2.0
//
// Named distributions of input data, the same bits on every target (no library distribution, no
// operation that rounds differently anywhere).
#ifndef HALYARD_OPS_DATA_DISTRIBUTION_H_
#define HALYARD_OPS_DATA_DISTRIBUTION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "halyard/tensor.h"

namespace halyard::ops {

enum class Dist {
  /// Small integers times powers of two, so that products of an input and weights over a row add up
  /// exactly in f32, in any order, and that symmetric 8-bit quantisation of an input changes nothing
  /// (each 32 hold one +-127 of the row's unit).
  kLossless,
  /// As kLossless, for asymmetric quantisation of a row (a8_token with a zero point).
  kLosslessAsym,
  /// As kLossless; weights are zero but for one code at the end of its range in each block, at the
  /// next place in each block; so are the bits of sub-scales and minimums. Inputs differ by place.
  kWalking,
  kUniform,    ///< [-1, 1)
  kNormal,     ///< 0 +- 1, within +-6
  kLlm,        ///< normal; inputs have 1.5 % of the columns times 50, as real activations
  kPositive,   ///< (0, 1]
  kCancel,     ///< pairs whose products with weights cancel to 2^-10
  kExtreme,    ///< ends of the type's range, as far as squares stay within f32; codes at their ends
  kSubnormal,  ///< inputs subnormal; weights as kUniform, with subnormal scales in block formats
  kPlanted,    ///< uniform, with one NaN or infinity in the main part, the tail or the last place
  kEqual,      ///< all the same
  kOnehot,     ///< a one in each row, else zeros
  kRandomBits  ///< any bits: for safety only, nothing can be expected of the result
};

/// "lossless", "random-bits", ...
absl::string_view DistName(Dist dist);
/// Errors   INVALID_ARGUMENT: no such distribution; the message lists them.
absl::StatusOr<Dist> ParseDist(absl::string_view name);
absl::Span<const Dist> AllDists();

enum class Role { kInput, kWeights };

struct FillSpec {
  Dist dist = Dist::kUniform;
  uint64_t seed = 1;
  std::string name;  ///< of the operand
  Role role = Role::kInput;
};

/// Fills the rows of a canonical tensor of any type; bytes between rows stay as they are. Block
/// formats of weights are packed from chosen codes for kLossless, kWalking, kExtreme and kSubnormal,
/// and encoded from values else.
void Fill(const FillSpec& spec, const hy_tensor& tensor);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_DISTRIBUTION_H_
