// SPDX-License-Identifier: Apache-2.0
//
// What is measured when nothing is named: shapes as models have them.
#ifndef HALYARD_BENCH_OPS_SHAPES_H_
#define HALYARD_BENCH_OPS_SHAPES_H_

#include <vector>

#include "conformance/ops/under_test.h"
#include "ops/case.h"

namespace halyard::bench {

/// Cases of an op, one or a few for each type tuple. Products: one token and 32, by a matrix of
/// 4096 x 4096, for each format. Attention: 32 sequences of 1024 tokens, and one. For any other op
/// (a plugin's, too): for each type tuple the case of its own list that moves the most bytes.
std::vector<ops::Case> DefaultShapes(const conformance::TestedOp& op);

}  // namespace halyard::bench

#endif  // HALYARD_BENCH_OPS_SHAPES_H_
