// SPDX-License-Identifier: Apache-2.0
#include "bench/ops/bench_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>

#include "bench/ops/shapes.h"
#include "bench/ops/timing.h"
#include "hal/loader.h"
#include "ops/builtin.h"
#include "ops/rmsnorm/contract.h"

namespace halyard::bench {
namespace {

using ::testing::HasSubstr;

// The first column of each row is left out: wrong, and fast.
hy_status RunWrong(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  if (context->index != 0) return HY_OK;
  for (int64_t row = 0; row < args.y.shape[0]; ++row) {
    std::memset(hy_tensor_row(&args.y, row), 0, hy_type_row_bytes(args.y.type, args.y.shape[1]));
  }
  return HY_OK;
}

const hy_kernel_table& WrongTable() {
  static hy_kernel_desc kernel{};
  kernel.struct_size = sizeof kernel;
  kernel.contract_version = HY_RMSNORM_VERSION;
  kernel.id = "rmsnorm/any/zeros@wrong";
  kernel.op = "rmsnorm";
  kernel.priority = HY_PRIORITY_VENDOR;
  kernel.phases = 1;
  kernel.run = &RunWrong;
  static const hy_kernel_desc* const kernels[] = {&kernel};
  static hy_kernel_table table{};
  table.struct_size = sizeof table;
  table.abi_major = HY_KERNEL_ABI_MAJOR;
  table.provider = "wrong";
  table.kernels = kernels;
  table.kernel_count = 1;
  return table;
}

class BenchOpsTest : public ::testing::Test {
 protected:
  BenchOpsTest() : tested_(conformance::UnderTest::Make(TheBuiltinOps(), {}, &WrongTable())) {
    hal::LoadOptions options;
    options.builtins = hal::BuiltinPorts();
    absl::StatusOr<std::shared_ptr<hal::Port>> port = hal::LoadPort("linux", options);
    if (port.ok()) device_ = hal::Device::Open(*port);
  }

  BenchRequest Quick(const std::string& text) {
    BenchRequest request;
    request.cases = {*ops::ParseCase(text)};
    request.threads = 1;
    request.seconds = 0.0005;
    request.repetitions = 3;
    request.cold_bytes = 1 << 16;
    return request;
  }

  absl::StatusOr<std::unique_ptr<conformance::UnderTest>> tested_;
  absl::StatusOr<hal::Device> device_ = absl::UnavailableError("no port");
};

constexpr char kNorm[] = "rmsnorm/f32.f32/rows=3,cols=96,add=0,sum=0/dist=normal/lay=dense/seed=3";

TEST_F(BenchOpsTest, OnlyRightKernelsGetFigures) {
  ASSERT_TRUE(tested_.ok()) << tested_.status();
  ASSERT_TRUE(device_.ok()) << device_.status();
  const absl::StatusOr<BenchReport> report = BenchOps(*device_, **tested_, Quick(kNorm));
  ASSERT_TRUE(report.ok()) << report.status();
  bool saw_right = false;
  bool saw_wrong = false;
  for (const BenchRow& row : report->rows) {
    if (row.kernel == "rmsnorm/any/zeros@wrong") {
      saw_wrong = true;
      EXPECT_FALSE(row.right);
      EXPECT_THAT(row.fault, HasSubstr("y"));
      EXPECT_EQ(row.median_ns, 0);
    } else {
      saw_right = true;
      EXPECT_TRUE(row.right) << row.kernel << ": " << row.fault;
      EXPECT_GT(row.median_ns, 0);
      EXPECT_LE(row.min_ns, row.median_ns);
      EXPECT_GT(row.copies, 1u);
      EXPECT_NEAR(row.gb_per_s, static_cast<double>(row.bytes) / row.median_ns, 1e-9);
      EXPECT_NEAR(row.share_of_read, row.gb_per_s / report->before.read_gb_per_s, 1e-9);
    }
  }
  EXPECT_TRUE(saw_right);
  EXPECT_TRUE(saw_wrong);
}

TEST_F(BenchOpsTest, UnknownOpsAndKernelsAreNamed) {
  ASSERT_TRUE(tested_.ok() && device_.ok());
  BenchRequest request = Quick(kNorm);
  request.cases[0].op = "rmsnrom";
  EXPECT_THAT(std::string(BenchOps(*device_, **tested_, request).status().message()),
              HasSubstr("rmsnrom"));
  request = Quick(kNorm);
  request.kernel_glob = "none/*";
  EXPECT_TRUE(absl::IsNotFound(BenchOps(*device_, **tested_, request).status()));
  request = Quick(kNorm);
  request.cases[0].dims.emplace_back("colls", 3);
  EXPECT_THAT(std::string(BenchOps(*device_, **tested_, request).status().message()),
              HasSubstr("no size colls; it has: rows, cols"));
}

TEST_F(BenchOpsTest, EveryOpHasShapes) {
  ASSERT_TRUE(tested_.ok());
  for (const conformance::TestedOp& op : (*tested_)->ops()) {
    EXPECT_FALSE(DefaultShapes(op).empty()) << op.op->name();
    for (const ops::Case& c : DefaultShapes(op)) EXPECT_EQ(c.op, op.op->name());
  }
}

TEST(TimeAll, EveryItemIsTimedAsOftenAsAsked) {
  std::vector<Timed> all(2);
  for (Timed& one : all) {
    one.run = [](uint64_t* out_ns) {
      *out_ns = 1000;
      return absl::OkStatus();
    };
  }
  TimeAll(1e-5, 4, &all);
  for (const Timed& one : all) {
    ASSERT_EQ(one.means_ns.size(), 4u);
    for (const double mean : one.means_ns) EXPECT_NEAR(mean, 1000, 1);
  }
}

TEST(TimeAll, AFailureIsKept) {
  std::vector<Timed> all(1);
  all[0].run = [](uint64_t*) { return absl::InternalError("broke"); };
  TimeAll(1e-5, 2, &all);
  EXPECT_TRUE(absl::IsInternal(all[0].status));
}

}  // namespace
}  // namespace halyard::bench
