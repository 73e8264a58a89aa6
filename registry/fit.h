// SPDX-License-Identifier: Apache-2.0
//
// Whether one kernel can run one call, and why not.
#ifndef HALYARD_REGISTRY_FIT_H_
#define HALYARD_REGISTRY_FIT_H_

#include <cstdint>
#include <string>

#include "base/cpu_features.h"
#include "registry/registry.h"
#include "registry/select.h"

namespace halyard::registry {

struct Fit {
  Verdict verdict = Verdict::kPassedOver;  ///< kPassedOver: it can
  std::string reason;
};

/// `unpack`: packed weights would be given canonical.
Fit FitKernel(const Registry& registry, const Request& request, const Kernel& kernel, bool unpack);

/// Extensions that a kernel's own functions are compiled for and that this machine lacks. One that lacks any
/// cannot be asked for its predicate or its scratch, only be told of: FitKernel takes it to admit the
/// call, and ScratchBytes gives 0. Such kernels are fit for other machines' teams alone.
IsaMask CannotBeAsked(const Kernel& kernel);

/// What a kernel asks for, with the packable operand in the kernel's layout.
uint64_t ScratchBytes(const Kernel& kernel, const void* args, uint32_t workers);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_FIT_H_
