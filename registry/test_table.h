// SPDX-License-Identifier: Apache-2.0
//
// Tables to put the ops of test_ops.h in, calls of them, and teams to run them on: for tests.
#ifndef HALYARD_REGISTRY_TEST_TABLE_H_
#define HALYARD_REGISTRY_TEST_TABLE_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "hal/device.h"
#include "halyard/kernel.h"
#include "registry/registry.h"
#include "registry/select.h"
#include "registry/test_ops.h"

namespace halyard::registry {

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
