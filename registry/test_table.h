// SPDX-License-Identifier: Apache-2.0
//
// A small op, kernels for it that behave as told, a layout, and the tables to put them in: for tests.
#ifndef HALYARD_REGISTRY_TEST_TABLE_H_
#define HALYARD_REGISTRY_TEST_TABLE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "hal/device.h"
#include "halyard/kernel.h"
#include "registry/registry.h"
#include "registry/select.h"
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

/// A table that owns its descriptors.
class TestTable {
 public:
  explicit TestTable(const char* provider) : provider_(provider) {}
  TestTable& Op(const hy_op_desc& op);
  TestTable& Kernel(const hy_kernel_desc& kernel);
  TestTable& Layout(const hy_layout_desc& layout);
  hy_kernel_table Get() const;

 private:
  const char* provider_;
  std::deque<hy_op_desc> ops_;
  std::deque<hy_kernel_desc> kernels_;
  std::deque<hy_layout_desc> layouts_;
  std::vector<const hy_op_desc*> op_list_;
  std::vector<const hy_kernel_desc*> kernel_list_;
  std::vector<const hy_layout_desc*> layout_list_;
};

/// Adds what `halyard` has (ops, references, a generic kernel of blend) and then `plugin`'s.
void Fill(Registry* registry, const TestTable& plugin);
void FillBuiltin(Registry* registry);

/// Tensors for a call of blend.
struct Blend {
  Blend(int64_t rows, int64_t cols, uint64_t seed = 1);
  /// y becomes x.
  void InPlace();
  /// What y must hold, from what x and w held when this object was made.
  std::vector<float> Expected() const;
  const std::vector<float>& Output() const { return in_place ? x : y; }

  std::vector<float> x, w, y, old_x;
  bool in_place = false;
  BlendArgs args{};
};

/// A team of `workers` on a port that is nothing but host memory.
hal::Device TestDevice();
hal::Team TestTeam(const hal::Device& device, uint32_t workers);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_TEST_TABLE_H_
