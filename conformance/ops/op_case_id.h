// SPDX-License-Identifier: Apache-2.0
//
// Ids of cases of level L1: a case of an op, on so many workers, by one kernel. The text is complete:
// a replay starts from it alone.
#ifndef HALYARD_CONFORMANCE_OPS_OP_CASE_ID_H_
#define HALYARD_CONFORMANCE_OPS_OP_CASE_ID_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ops/case.h"

namespace halyard::conformance {

/// Instead of a kernel's id: whatever the registry selects, run by its runner on a real team.
inline constexpr char kKernelAuto[] = "auto";
/// The same with all operands in buffers of the port's device, where kernels of the host may not see
/// them.
inline constexpr char kKernelDevice[] = "device";

/// L1/matmul/f32.q4_k.f32/M=37,N=3,K=768/dist=lossless/lay=pad64+off4/seed=17/thr=3/kern=ID
/// and, where a tuning parameter is not at its default, /par=tile=8+unroll=2 before /kern.
struct OpCaseId {
  ops::Case c;
  uint32_t workers = 1;
  std::vector<std::pair<std::string, int64_t>> params;
  std::string kernel;
};

std::string OpCaseIdText(const OpCaseId& id);
/// Errors   INVALID_ARGUMENT: what is wrong with the text.
absl::StatusOr<OpCaseId> ParseOpCaseId(absl::string_view text);
/// True if the text is of this level, whether it is well-formed or not.
bool IsOpCaseId(absl::string_view text);

/// Number of workers that a case runs on at first; spread over what is worth trying by the case's
/// digest: 1, 2, 3, odd, more than the rows, 64.
uint32_t ChooseWorkers(const ops::Case& c, int64_t rows);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_OP_CASE_ID_H_
