// SPDX-License-Identifier: Apache-2.0
#include "registry/test_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "hal/fake_port.h"

namespace halyard::registry {

TestTable& TestTable::Op(const hy_op_desc& op) {
  op_list_.push_back(&ops_.emplace_back(op));
  return *this;
}

TestTable& TestTable::Kernel(const hy_kernel_desc& kernel) {
  kernel_list_.push_back(&kernels_.emplace_back(kernel));
  return *this;
}

TestTable& TestTable::Layout(const hy_layout_desc& layout) {
  layout_list_.push_back(&layouts_.emplace_back(layout));
  return *this;
}

hy_kernel_table TestTable::Get() const {
  return {sizeof(hy_kernel_table),
          HY_KERNEL_ABI_MAJOR,
          HY_KERNEL_ABI_MINOR,
          0,
          provider_,
          kernel_list_.data(),
          kernel_list_.size(),
          layout_list_.data(),
          layout_list_.size(),
          op_list_.data(),
          op_list_.size()};
}

void FillBuiltin(Registry* registry) {
  TestTable builtin("halyard");
  builtin.Op(kBlend).Op(kPut).Kernel(BlendReference()).Kernel(PutReference());
  builtin.Kernel(BlendKernel("blend/any/generic_base@halyard", HY_PRIORITY_GENERIC));
  ASSERT_TRUE(registry->Add(builtin.Get(), "built in", true).ok());
  ASSERT_TRUE(registry->refusals().empty()) << registry->refusals()[0].reason;
}

void Fill(Registry* registry, const TestTable& plugin) {
  FillBuiltin(registry);
  ASSERT_TRUE(registry->Add(plugin.Get(), "/lib/acme.so", false).ok());
  ASSERT_TRUE(registry->refusals().empty()) << registry->refusals()[0].reason;
}

Blend::Blend(int64_t rows, int64_t cols, uint64_t seed) {
  const auto count = static_cast<size_t>(rows * cols);
  uint64_t state = seed;
  const auto next = [&state] {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return static_cast<float>(state >> 40) / 1024.0f;
  };
  for (size_t i = 0; i < count; ++i) {
    x.push_back(next());
    w.push_back(next());
  }
  y.assign(count, -1.0f);
  old_x = x;
  const int64_t shape[] = {rows, cols};
  args.struct_size = sizeof args;
  args.factor = 0.5f;
  args.x = hy_tensor_dense(x.data(), HY_TYPE_F32, 2, shape);
  args.w = hy_tensor_dense(w.data(), HY_TYPE_F32, 2, shape);
  args.y = hy_tensor_dense(y.data(), HY_TYPE_F32, 2, shape);
}

void Blend::InPlace() {
  in_place = true;
  args.y = args.x;
}

std::vector<float> Blend::Expected() const {
  std::vector<float> expected;
  for (size_t i = 0; i < old_x.size(); ++i) expected.push_back(old_x[i] + args.factor * w[i]);
  return expected;
}

hal::Device TestDevice() {
  return hal::OpenFake(std::make_shared<hal::FakePort>(hal::FakePort::Shape{}));
}

hal::Team TestTeam(const hal::Device& device, uint32_t workers) {
  hal::TeamRequest request;
  request.count = workers;
  request.allow_oversubscription = true;
  absl::StatusOr<hal::Team> team = device.CreateTeam(request);
  EXPECT_TRUE(team.ok()) << team.status();
  return *std::move(team);
}

}  // namespace halyard::registry
