// SPDX-License-Identifier: Apache-2.0
//
// A call of an op for `halyard explain`: shapes and types without memory.
#ifndef HALYARD_CLI_EXPLAIN_CASE_H_
#define HALYARD_CLI_EXPLAIN_CASE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/case.h"

namespace halyard::cli {

/// What was asked for; the rest is filled in.
struct CaseWish {
  std::vector<std::string> types;                      ///< as --types
  std::vector<std::pair<std::string, int64_t>> sizes;  ///< names in any case of letters
};

/// A case of the op: one of its own list with those types, if there is one, as the pattern; types
/// that are left out at the end are as the first; sizes that are not named as the pattern's.
/// Errors   INVALID_ARGUMENT: no such type or size, and which there are.
absl::StatusOr<ops::Case> MakeCase(const ops::OpCases& cases, const CaseWish& wish);

/// "name=value,name=value".
absl::StatusOr<std::vector<std::pair<std::string, int64_t>>> ParseSizes(const std::string& text);

/// Args of a case with data NULL in all operands.
absl::StatusOr<std::vector<uint64_t>> BuildArgs(const ops::OpCases& cases, const ops::Case& c,
                                                uint32_t args_bytes);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_EXPLAIN_CASE_H_
