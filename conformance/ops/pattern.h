// SPDX-License-Identifier: Apache-2.0
//
// What wrong elements have in common: the shortest way from a red case to the line of code.
#ifndef HALYARD_CONFORMANCE_OPS_PATTERN_H_
#define HALYARD_CONFORMANCE_OPS_PATTERN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace halyard::conformance {

/// An output with what it should be. All of one length: rows times columns.
struct PatternInput {
  int64_t cols = 0;
  std::vector<double> got;
  std::vector<double> want;
  std::vector<uint8_t> bad;     ///< 1 where an element is wrong
  std::vector<uint32_t> owner;  ///< worker that wrote each element; may be empty
  uint32_t workers = 1;
};

/// In words: "all by the factor 0.5", "only the last 3 columns", "every 8th column, from 1",
/// "only rows of worker 2". Empty if nothing is wrong or nothing is in common.
std::vector<std::string> FindPatterns(const PatternInput& input);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_PATTERN_H_
