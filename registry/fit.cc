// SPDX-License-Identifier: Apache-2.0
#include "registry/fit.h"

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "registry/args.h"

namespace halyard::registry {
namespace {

constexpr const char* kActivationNames[HY_QA_COUNT] = {"any",      "none",      "block32",
                                                       "block256", "token_sym", "token_asym"};

Fit Lost(Verdict verdict, std::string reason) { return {verdict, std::move(reason)}; }

Fit FitSettings(const Request& request, const Kernel& kernel) {
  if (request.only != nullptr) return {};
  if (absl::c_linear_search(request.without, &kernel))
    return Lost(Verdict::kDeclined, "declined this call: UNIMPLEMENTED");
  if (kernel.disabled()) return Lost(Verdict::kDisabled, "disabled by HALYARD_DISABLE_KERNEL");
  if (kernel.quarantined())
    return Lost(Verdict::kQuarantined, "failed before in this process, and is set aside");
  return {};
}

Fit FitTypes(const Request& request, const Kernel& kernel) {
  const Op& op = *request.op;
  for (size_t i = 0; i < op.typed().size(); ++i) {
    const uint32_t wanted = kernel.desc().types[i];
    const uint32_t given = op.tensor(op.typed()[i], request.args).type;
    if (wanted == HY_TYPE_NONE || wanted == given) continue;
    return Lost(Verdict::kTypes,
                absl::StrCat(op.operands()[op.typed()[i]].name, " is ", hy_type_name(given),
                             ", it takes ", hy_type_name(wanted)));
  }
  return {};
}

Fit FitIsa(const Request& request, const Kernel& kernel) {
  const IsaMask missing = {kernel.desc().isa[0] & ~request.target.isa[0],
                           kernel.desc().isa[1] & ~request.target.isa[1]};
  if (missing[0] == 0 && missing[1] == 0) return {};
  return Lost(Verdict::kIsa,
              absl::StrCat("the team lacks ", absl::StrJoin(IsaNames(missing), ", ")));
}

Fit FitActivation(const Request& request, const Kernel& kernel) {
  const uint32_t allowed = request.op->AllowedActivation(request.args);
  const uint32_t own = kernel.desc().activation;
  if (allowed == HY_QA_ANY || own == HY_QA_ANY || own == allowed) return {};
  return Lost(Verdict::kActivation,
              absl::StrCat("the call wants activations of class ",
                           allowed < HY_QA_COUNT ? kActivationNames[allowed] : "unknown",
                           ", it computes in ", kActivationNames[own]));
}

// What stands between the operand that can be packed and the kernel's layout.
Fit FitLayout(const Registry& registry, const Request& request, const Kernel& kernel, bool unpack) {
  const uint32_t wanted = kernel.desc().layout;
  const hy_tensor& weights = request.op->tensor(request.op->packable(), request.args);
  if (weights.layout == wanted || !hy_tensor_present(&weights)) return {};
  const std::string takes = registry.LayoutName(wanted);
  if (weights.layout != HY_LAYOUT_CANONICAL) {
    if (unpack && wanted == HY_LAYOUT_CANONICAL) return {};
    return Lost(Verdict::kLayout,
                absl::StrCat("the weights are packed as ", registry.LayoutName(weights.layout),
                             ", it takes ", takes));
  }
  if (!request.may_pack)
    return Lost(Verdict::kLayout, absl::StrCat("the weights are not packed as ", takes));
  const Layout* layout = registry.FindLayout(wanted);
  if (layout->desc.type != weights.type) {
    return Lost(Verdict::kLayout, absl::StrCat(takes, " packs ", hy_type_name(layout->desc.type),
                                               ", the weights are ", hy_type_name(weights.type)));
  }
  const Matrices matrices = MatricesOf(weights);
  hy_why why{};
  if (layout->desc.supports(matrices.rows, matrices.cols, &why) != 0) return {};
  return Lost(Verdict::kLayout, absl::StrCat(takes, " cannot pack [", matrices.rows, ", ",
                                             matrices.cols, "]: ", why.text));
}

// Args with the packable operand as the kernel would be given it. Only its form: data may be NULL.
void SetLayout(const Kernel& kernel, ArgsCopy* args) {
  hy_tensor& weights = args->tensor(kernel.op().packable());
  if (kernel.desc().layout == HY_LAYOUT_CANONICAL)
    weights = hy_tensor_dense(weights.data, weights.type, weights.rank, weights.shape);
  weights.layout = kernel.desc().layout;
}

bool NeedsOtherLayout(const Kernel& kernel, const void* args) {
  if (kernel.op().packable() == HY_ID_NONE) return false;
  const hy_tensor& weights = kernel.op().tensor(kernel.op().packable(), args);
  return hy_tensor_present(&weights) && weights.layout != kernel.desc().layout;
}

Fit FitPredicate(const Request& request, const Kernel& kernel) {
  if (kernel.desc().supports == nullptr || CannotBeAsked(kernel) != IsaMask{}) return {};
  hy_why why{};
  int can = 0;
  if (NeedsOtherLayout(kernel, request.args)) {
    ArgsCopy args(*request.op, request.args);
    SetLayout(kernel, &args);
    can = kernel.desc().supports(args.data(), &request.target, &why);
  } else {
    can = kernel.desc().supports(request.args, &request.target, &why);
  }
  if (can != 0) return {};
  return Lost(Verdict::kPredicate, why.text[0] == '\0' ? "its predicate gave no reason" : why.text);
}

}  // namespace

IsaMask CannotBeAsked(const Kernel& kernel) {
  const IsaMask live = LiveIsa();
  return {kernel.desc().isa[0] & ~live[0], kernel.desc().isa[1] & ~live[1]};
}

uint64_t ScratchBytes(const Kernel& kernel, const void* args, uint32_t workers) {
  if (kernel.desc().scratch_bytes == nullptr || CannotBeAsked(kernel) != IsaMask{}) return 0;
  if (!NeedsOtherLayout(kernel, args)) return kernel.desc().scratch_bytes(args, workers);
  ArgsCopy copy(kernel.op(), args);
  SetLayout(kernel, &copy);
  return kernel.desc().scratch_bytes(copy.data(), workers);
}

Fit FitKernel(const Registry& registry, const Request& request, const Kernel& kernel, bool unpack) {
  Fit fit = FitSettings(request, kernel);
  if (fit.verdict == Verdict::kPassedOver) fit = FitTypes(request, kernel);
  if (fit.verdict == Verdict::kPassedOver) fit = FitIsa(request, kernel);
  if (fit.verdict == Verdict::kPassedOver) fit = FitActivation(request, kernel);
  if (fit.verdict == Verdict::kPassedOver && request.op->packable() != HY_ID_NONE)
    fit = FitLayout(registry, request, kernel, unpack);
  if (fit.verdict == Verdict::kPassedOver) fit = FitPredicate(request, kernel);
  return fit;
}

}  // namespace halyard::registry
