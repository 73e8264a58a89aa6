// SPDX-License-Identifier: Apache-2.0
//
// For tests of references: what one says of args, as plain numbers.
#ifndef HALYARD_REFERENCE_TEST_EXPECT_H_
#define HALYARD_REFERENCE_TEST_EXPECT_H_

#include <gtest/gtest.h>

#include <vector>

#include "ops/test_builtin.h"
#include "ops/test_run.h"

namespace halyard::reference {

/// What the reference of `op` expects, after its contract took the args.
template <typename Args>
Expected ExpectedOf(const char* op, const Args& args, const Numerics& numerics = {}) {
  const ops::TestOp found = ops::FindOp(op);
  hy_why why = {};
  EXPECT_EQ(found.desc->validate(&args, &why), HY_OK) << op << ": " << why.text;
  Expected expected;
  EXPECT_TRUE(found.reference->expect(&args, numerics, &expected).ok()) << op;
  return expected;
}

/// Values of its first output.
template <typename Args>
std::vector<double> ValuesOf(const char* op, const Args& args) {
  return ExpectedOf(op, args).outputs[0].value;
}

/// Runs every kernel of `op`, the reference's own too, against what the reference expects.
template <typename Args>
void ExpectAllKernelsAgree(const char* op, const Args& args) {
  const ops::TestOp found = ops::FindOp(op);
  const Expected expected = ExpectedOf(op, args);
  for (const hy_kernel_desc* kernel : ops::KernelsOf(found)) {
    EXPECT_EQ(ops::RunKernel(*kernel, &args, 2), expected.status) << kernel->id;
    EXPECT_EQ(ops::FaultOf(*found.desc, &args, expected), "") << kernel->id;
  }
}

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_TEST_EXPECT_H_
