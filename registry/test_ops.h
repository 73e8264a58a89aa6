// SPDX-License-Identifier: Apache-2.0
//
// Small ops, kernels for them that behave as told, and a layout: for tests.
#ifndef HALYARD_REGISTRY_TEST_OPS_H_
#define HALYARD_REGISTRY_TEST_OPS_H_

#include <atomic>
#include <cstdint>

#include "halyard/kernel.h"
#include "registry/testdata/blend.h"

namespace halyard::registry {

/// The ops of testdata/blend.h.
extern const hy_op_desc kBlend;
extern const hy_op_desc kPut;

/// How a test kernel behaves; all Tricksters look here.
struct Behaviour {
  std::atomic<int32_t> status{HY_OK};
  std::atomic<uint32_t> phase{0};            ///< in which it gives the status
  std::atomic<uint32_t> worker{UINT32_MAX};  ///< on which; UINT32_MAX all
  std::atomic<bool> spoils{false};  ///< writes rubbish to its outputs before it gives the status
  std::atomic<uint32_t> one_in{0};  ///< fails at random, once in so many runs; 0 never
  std::atomic<uint64_t> calls{0};   ///< of phase 0 on worker 0
};
Behaviour& TheBehaviour();
void ResetBehaviour();

/// Layout 0x10001 of provider "acme": every row reversed.
inline constexpr uint32_t kReversedId = 0x10001;
extern const hy_layout_desc kReversed;

/// Descriptors to start from. The ids are "blend/TYPES/VARIANT@PROVIDER".
hy_kernel_desc BlendReference();  ///< of provider "halyard"
hy_kernel_desc PutReference();
hy_kernel_desc BlendKernel(const char* id, int32_t priority);  ///< right, one phase
hy_kernel_desc Trickster(const char* id, int32_t priority);    ///< two phases; as TheBehaviour says
hy_kernel_desc Ticketed(const char* id, int32_t priority);     ///< three phases, rows by ticket
hy_kernel_desc ReversedKernel(const char* id, int32_t priority);
hy_kernel_desc PutTrickster(const char* id, int32_t priority);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_TEST_OPS_H_
