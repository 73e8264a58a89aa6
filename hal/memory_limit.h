// SPDX-License-Identifier: Apache-2.0
//
// Inner part of pages.h: how much memory can be brought in before the system kills somebody.
#ifndef HALYARD_HAL_MEMORY_LIMIT_H_
#define HALYARD_HAL_MEMORY_LIMIT_H_

#include <cstdint>

#include "hal/system_view.h"

namespace halyard::hal {

/// Bytes that this process can still fill: what the machine has available, and what each level of
/// the control group leaves, reclaimable file pages counted as free. UINT64_MAX if nothing is
/// known. Beyond it a page fault does not fail: the kernel ends a process. Hence this question
/// first.
uint64_t FillableBytes(const SystemView& view);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_MEMORY_LIMIT_H_
