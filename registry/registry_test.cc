// SPDX-License-Identifier: Apache-2.0
#include "registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Ids(absl::Span<const Kernel* const> kernels) {
  std::vector<std::string> ids;
  for (const Kernel* kernel : kernels) ids.emplace_back(kernel->id());
  return ids;
}

TEST(RegistryTest, KernelsOfAnOpStandByPriorityAndTheReferenceIsLast) {
  Registry registry;
  TestTable plugin("acme");
  plugin.Kernel(BlendKernel("blend/any/b@acme", HY_PRIORITY_ISA))
      .Kernel(BlendKernel("blend/any/a@acme", HY_PRIORITY_ISA))
      .Kernel(BlendKernel("blend/any/fast@acme", HY_PRIORITY_VENDOR));
  Fill(&registry, plugin);
  const Op* op = registry.FindOp("blend");
  ASSERT_NE(op, nullptr);
  EXPECT_THAT(Ids(op->kernels()),
              ElementsAre("blend/any/fast@acme", "blend/any/a@acme", "blend/any/b@acme",
                          "blend/any/generic_base@halyard", "blend/any/reference@halyard"));
  EXPECT_EQ(op->reference().id(), "blend/any/reference@halyard");
  EXPECT_EQ(op->packable(), 1u);
  EXPECT_THAT(op->typed(), ElementsAre(0, 1, 2));
}

TEST(RegistryTest, FindsByNameAndSaysWhereThingsCameFrom) {
  Registry registry;
  TestTable plugin("acme");
  plugin.Layout(kReversed).Kernel(ReversedKernel("blend/any/packed@acme", HY_PRIORITY_VENDOR));
  Fill(&registry, plugin);
  const Kernel* kernel = registry.FindKernel("blend/any/packed@acme");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->source().provider, "acme");
  EXPECT_EQ(kernel->source().origin, "/lib/acme.so");
  EXPECT_FALSE(kernel->source().built_in);
  EXPECT_TRUE(registry.FindOp("put")->reference().source().built_in);
  EXPECT_EQ(registry.FindOp("no_such"), nullptr);
  EXPECT_EQ(registry.FindKernel("no_such"), nullptr);
  EXPECT_EQ(registry.FindLayout(77), nullptr);
  EXPECT_EQ(registry.LayoutName(kReversedId), "f32/reversed@acme");
  EXPECT_EQ(registry.LayoutName(HY_LAYOUT_CANONICAL), "canonical");
  EXPECT_EQ(registry.LayoutName(77), "layout 77");
}

TEST(RegistryTest, AWholeTableIsRefusedForItsVersionAndProvider) {
  Registry registry;
  FillBuiltin(&registry);
  TestTable plugin("acme");
  hy_kernel_table table = plugin.Get();
  table.abi_major = 2;
  absl::Status status = registry.Add(table, "/lib/acme.so", false);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/lib/acme.so is of kernel ABI 2.0"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("update Halyard"));

  table = plugin.Get();
  table.struct_size = 8;
  EXPECT_EQ(registry.Add(table, "p", false).code(), absl::StatusCode::kInvalidArgument);

  table = plugin.Get();
  table.provider = "halyard";
  status = registry.Add(table, "p", false);
  EXPECT_THAT(std::string(status.message()), HasSubstr("names what is built in"));
  table.provider = "Acme";
  EXPECT_THAT(std::string(registry.Add(table, "p", false).message()), HasSubstr("lower-case"));
  table.provider = nullptr;
  EXPECT_FALSE(registry.Add(table, "p", false).ok());

  table = plugin.Get();
  table.kernel_count = 1;
  EXPECT_THAT(std::string(registry.Add(table, "p", false).message()), HasSubstr("NULL"));
  EXPECT_THAT(registry.refusals(), IsEmpty());
}

// What was refused and why, after a plugin with this kernel and a good one.
std::string RefusedWith(hy_kernel_desc kernel) {
  Registry registry;
  FillBuiltin(&registry);
  TestTable plugin("acme");
  plugin.Kernel(kernel).Kernel(BlendKernel("blend/any/good@acme", HY_PRIORITY_VENDOR));
  EXPECT_TRUE(registry.Add(plugin.Get(), "/lib/acme.so", false).ok());
  EXPECT_NE(registry.FindKernel("blend/any/good@acme"), nullptr) << "the good one stays";
  if (registry.refusals().size() != 1) return "not refused, or others too";
  EXPECT_EQ(registry.kernels().size(), 4u);
  return registry.refusals()[0].what + " " + registry.refusals()[0].reason;
}

TEST(RegistryTest, AKernelIsRefusedForWhatTheRegistryKnows) {
  hy_kernel_desc kernel = BlendKernel("blend/any/bad@acme", HY_PRIORITY_VENDOR);
  kernel.op = "blond";
  EXPECT_THAT(RefusedWith(kernel),
              HasSubstr("blend/any/bad@acme is for op 'blond', which is not here"));
  kernel = BlendKernel("blend/any/bad@acme", HY_PRIORITY_VENDOR);
  kernel.op = nullptr;
  EXPECT_THAT(RefusedWith(kernel), HasSubstr("is for op ''"));
  kernel = ReversedKernel("blend/any/bad@acme", HY_PRIORITY_VENDOR);
  EXPECT_THAT(RefusedWith(kernel), HasSubstr("needs layout 65537, which nobody gives"));
  kernel = PutTrickster("put/any/bad@acme", HY_PRIORITY_VENDOR);
  kernel.layout = 5;
  EXPECT_THAT(RefusedWith(kernel), HasSubstr("no operand of put can be packed"));
  EXPECT_THAT(RefusedWith(BlendKernel("blend/any/bad@acme", HY_PRIORITY_REFERENCE)),
              HasSubstr("is a reference for an op of built in"));
  kernel = BlendKernel("blend/any/bad@acme", HY_PRIORITY_VENDOR);
  kernel.struct_size = 4;
  EXPECT_THAT(RefusedWith(kernel), HasSubstr("kernel 0 has struct_size 4"));
}

TEST(RegistryTest, AnIdIsTakenOnce) {
  Registry registry;
  FillBuiltin(&registry);
  TestTable plugin("acme");
  plugin.Kernel(BlendKernel("blend/any/same@acme", HY_PRIORITY_VENDOR))
      .Kernel(BlendKernel("blend/any/same@acme", HY_PRIORITY_ISA));
  ASSERT_TRUE(registry.Add(plugin.Get(), "/lib/acme.so", false).ok());
  ASSERT_EQ(registry.refusals().size(), 1u);
  EXPECT_THAT(registry.refusals()[0].reason, HasSubstr("has the id of a kernel of /lib/acme.so"));
  EXPECT_EQ(registry.FindKernel("blend/any/same@acme")->desc().priority, HY_PRIORITY_VENDOR);
}

TEST(RegistryTest, NullEntriesOfATableAreRefusedOneByOne) {
  Registry registry;
  FillBuiltin(&registry);
  const hy_kernel_desc good = BlendKernel("blend/any/good@acme", HY_PRIORITY_VENDOR);
  const hy_kernel_desc* const kernels[] = {nullptr, &good};
  const hy_layout_desc* const layouts[] = {nullptr};
  const hy_op_desc* const ops[] = {nullptr};
  const hy_kernel_table table = {
      sizeof(hy_kernel_table), 1, 0, 0, "acme", kernels, 2, layouts, 1, ops, 1};
  ASSERT_TRUE(registry.Add(table, "/lib/acme.so", false).ok());
  ASSERT_EQ(registry.refusals().size(), 3u);
  EXPECT_EQ(registry.refusals()[0].what, "layout 0");
  EXPECT_EQ(registry.refusals()[1].what, "op 0");
  EXPECT_EQ(registry.refusals()[2].what, "kernel 0");
  EXPECT_NE(registry.FindKernel("blend/any/good@acme"), nullptr);
}

TEST(RegistryTest, LayoutsAreRefusedForTakenNumbersAndNames) {
  Registry registry;
  TestTable plugin("acme");
  hy_layout_desc low = kReversed;
  low.id = 5;
  hy_layout_desc taken = kReversed;
  taken.name = "f32/other@acme";
  plugin.Layout(kReversed).Layout(taken).Layout(low);
  FillBuiltin(&registry);
  ASSERT_TRUE(registry.Add(plugin.Get(), "/lib/acme.so", false).ok());
  ASSERT_EQ(registry.refusals().size(), 2u);
  EXPECT_EQ(registry.refusals()[0].what, "f32/other@acme");
  EXPECT_THAT(registry.refusals()[0].reason, HasSubstr("take another number"));
  EXPECT_THAT(registry.refusals()[1].reason, HasSubstr("Halyard's own"));
  EXPECT_EQ(registry.layouts().size(), 1u);
}

hy_op_desc Named(const char* name) {
  hy_op_desc op = kBlend;
  op.name = name;
  return op;
}

TEST(RegistryTest, APluginMayBringAnOpButNotReplaceOne) {
  Registry registry;
  FillBuiltin(&registry);
  hy_kernel_desc reference = BlendReference();
  reference.op = "own";
  reference.id = "own/any/reference@acme";
  hy_kernel_desc orphan = BlendKernel("lone/any/fast@acme", HY_PRIORITY_VENDOR);
  orphan.op = "lone";
  TestTable plugin("acme");
  plugin.Op(Named("own")).Kernel(reference).Op(kBlend).Op(Named("lone")).Kernel(orphan);
  ASSERT_TRUE(registry.Add(plugin.Get(), "/lib/acme.so", false).ok());
  EXPECT_EQ(registry.FindOp("own")->reference().id(), "own/any/reference@acme");
  EXPECT_EQ(registry.FindOp("lone"), nullptr);
  EXPECT_EQ(registry.FindKernel("lone/any/fast@acme"), nullptr);
  EXPECT_EQ(std::count(registry.kernels().begin(), registry.kernels().end(), nullptr), 0);
  ASSERT_EQ(registry.refusals().size(), 3u);
  EXPECT_THAT(registry.refusals()[0].reason, HasSubstr("is an op of built in already"));
  EXPECT_THAT(registry.refusals()[1].reason, HasSubstr("an op without a reference"));
  EXPECT_THAT(registry.refusals()[2].reason, HasSubstr("an op that was refused"));
}

TEST(RegistryTest, TheQuarantineHoldsAndSparesTheReference) {
  Registry registry;
  FillBuiltin(&registry);
  const Op& op = *registry.FindOp("blend");
  const Kernel& generic = *op.kernels()[0];
  EXPECT_FALSE(generic.quarantined());
  const uint64_t epoch = registry.quarantine_epoch();
  registry.Quarantine(generic, "returned INTERNAL");
  registry.Quarantine(generic, "returned INTERNAL");
  EXPECT_TRUE(generic.quarantined());
  EXPECT_EQ(generic.failures(), 2u);
  EXPECT_EQ(registry.quarantine_epoch(), epoch + 1);
  registry.Quarantine(op.reference(), "returned INTERNAL");
  EXPECT_FALSE(op.reference().quarantined());
  EXPECT_EQ(op.reference().failures(), 1u);
}

TEST(FallbackLogTest, CountsByReason) {
  const FallbackLog log;
  log.Note("blend", "a", "b", "it declined");
  log.Note("blend", "a", "b", "it declined");
  log.Note("blend", "a", "c", "it failed");
  const std::vector<Fallback> fallbacks = log.Read();
  ASSERT_EQ(fallbacks.size(), 2u);
  EXPECT_EQ(fallbacks[0].count, 2u);
  EXPECT_EQ(fallbacks[1].to, "c");
  EXPECT_EQ(log.total(), 3u);
}

}  // namespace
}  // namespace halyard::registry
