// SPDX-License-Identifier: Apache-2.0
//
// Which kernel runs an op: by types, ISA, activation class, layout and predicate; then what was
// forced, what the profile chose, and the highest priority. The reference takes what is left, so a
// valid call always has an answer.
#ifndef HALYARD_REGISTRY_SELECT_H_
#define HALYARD_REGISTRY_SELECT_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/cpu_features.h"
#include "hal/device.h"
#include "halyard/kernel.h"
#include "registry/registry.h"

namespace halyard::registry {

/// What a kernel would run on. Vector bytes are those of this machine.
hy_kernel_target TargetOf(const hal::Team& team);
hy_kernel_target MakeTarget(const IsaMask& isa, uint32_t workers, uint32_t vector_bytes);

/// What a profile says for a call. A kernel that is not here, or cannot run the call, is passed over;
/// a value that is not in a parameter's set is left at its default. Both are counted and noted.
struct Choice {
  std::string kernel;  ///< id
  std::vector<std::pair<std::string, int64_t>> params;
  std::string tier;  ///< where in the profile it was found, for people: "acme_x1.yaml, exact chip"
};

/// Where choices come from: a profile. Threads: any.
class ChoiceSource {
 public:
  virtual ~ChoiceSource() = default;
  /// The choice for a call, valid as long as the source; nullptr: none.
  virtual const Choice* Find(const Op& op, const void* args,
                             const hy_kernel_target& target) const = 0;
};

struct Request {
  const Op* op = nullptr;
  const void* args = nullptr;  ///< data may be NULL in all operands
  hy_kernel_target target{};
  const Choice* choice = nullptr;  ///< none: by priority
  /// Weights that are canonical now could be packed: kernels with a layout are taken, too, and
  /// Selection::layout says what to pack to.
  bool may_pack = false;
  /// This kernel or an error; force, disable and quarantine are not looked at. For tests and tuning.
  const Kernel* only = nullptr;
  /// Kernels that declined this very call.
  absl::Span<const Kernel* const> without = {};
};

enum class DecidedBy {
  kForce,     ///< HALYARD_FORCE_KERNEL
  kProfile,   ///< Request::choice
  kPriority,  ///< the highest of those that can
  kUnpacked,  ///< none takes the packed weights: the highest of those that take canonical ones
  kOnly,      ///< Request::only
};

struct Selection {
  const Kernel* kernel = nullptr;
  std::array<int64_t, HY_MAX_PARAMS> params{};  ///< in the order of the kernel's
  uint32_t layout = HY_LAYOUT_CANONICAL;        ///< that the packable operand must have
  uint64_t scratch_bytes = 0;
  DecidedBy decided_by = DecidedBy::kPriority;
  std::string tier;  ///< Choice::tier, if the profile decided
};

/// What became of a kernel in a selection, in the order in which it is checked.
enum class Verdict {
  kChosen,
  kDeclined,  ///< was tried, and gave UNIMPLEMENTED
  kDisabled,
  kQuarantined,
  kTypes,
  kIsa,
  kActivation,
  kLayout,
  kPredicate,
  kPassedOver,  ///< can run; another was forced, chosen by the profile, or has a higher priority
};
/// A word for each: "types", "isa".
absl::string_view VerdictName(Verdict verdict);

struct Candidate {
  const Kernel* kernel = nullptr;
  Verdict verdict = Verdict::kPassedOver;
  std::string reason;
};

/// All of a selection, for people.
struct Explanation {
  std::vector<Candidate> candidates;  ///< every kernel of the op, the highest priority first
  std::string decision;               ///< one line: what decided
  std::vector<std::string> notes;     ///< what was asked for and could not be had
};

/// Checks args by the op's contract and picks a kernel. With `explanation`, tells of every candidate,
/// and counts nothing. Threads: any.
/// Errors   INVALID_ARGUMENT: what the contract says; FAILED_PRECONDITION: `only` cannot run it.
absl::StatusOr<Selection> Select(const Registry& registry, const Request& request,
                                 Explanation* explanation = nullptr);

/// As Select, args checked already.
absl::StatusOr<Selection> SelectChecked(const Registry& registry, const Request& request,
                                        Explanation* explanation = nullptr);

/// Checks args by the op's contract. INVALID_ARGUMENT with its reason.
absl::Status Validate(const Op& op, const void* args);

/// The reference, for args that were checked.
Selection SelectReference(const Op& op, const void* args, uint32_t workers);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_SELECT_H_
