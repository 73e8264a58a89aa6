// SPDX-License-Identifier: Apache-2.0
//
// Writes golden packs, and checks those that others wrote.
#ifndef HALYARD_CONFORMANCE_GOLDEN_MAKE_GOLDEN_H_
#define HALYARD_CONFORMANCE_GOLDEN_MAKE_GOLDEN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/golden/golden_pack.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// The bytes of a pack with the expectations of all cases that `request` means: for each case those of
/// every declaration of numerics that a kernel in the registry makes and can keep on this case, and
/// what the run would ask for other data of the same shape. request.ops.jobs processes compute.
/// Errors   as PlanOps; INTERNAL: a process died.
absl::StatusOr<std::string> MakeGolden(const RunRequest& request,
                                       const std::function<void(const Progress&)>& on_progress);

struct GoldenCheck {
  uint64_t same = 0;     ///< expectations that are the same bits here
  uint64_t close = 0;    ///< others, all within kCloseToBound of what a kernel may be off by
  uint64_t differ = 0;   ///< others
  uint64_t missing = 0;  ///< that the pack does not have
  double worst = 0;      ///< largest difference of a value, in units of its bound
  std::vector<std::string> lines;  ///< the first that are not the same, each with its case
};

/// Another libm may give another last bit of an f64, which no verdict can depend on.
inline constexpr double kCloseToBound = 1e-6;

/// Computes the same expectations here and compares them with request.ops.golden.
/// Errors   as MakeGolden; INVALID_ARGUMENT: a damaged entry.
absl::StatusOr<GoldenCheck> CheckGolden(const RunRequest& request,
                                        const std::function<void(const Progress&)>& on_progress);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_MAKE_GOLDEN_H_
