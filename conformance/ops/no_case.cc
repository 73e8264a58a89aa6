// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/no_case.h"

#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "conformance/filter.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/op_case_id.h"
#include "ops/builtin.h"
#include "ops/case_sizes.h"

namespace halyard::conformance {
namespace {

bool IsGlob(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

std::set<std::string> OpNames(const RunRequest& request) {
  std::set<std::string> names;
  for (const ops::OpCases* cases : request.ops.builtin->cases) names.insert(cases->op);
  return names;
}

const ops::OpCases* CasesOf(const RunRequest& request, const std::string& op) {
  for (const ops::OpCases* cases : request.ops.builtin->cases) {
    if (cases->op == op) return cases;
  }
  return nullptr;
}

}  // namespace

absl::Status NoCase(absl::string_view id, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("there is no case '", id, "': ", why));
}

absl::Status CheckCaseSizes(const std::string& id, const RunRequest& request) {
  const absl::StatusOr<OpCaseId> parsed = ParseOpCaseId(id);
  if (!parsed.ok() || request.ops.builtin == nullptr) return absl::OkStatus();
  const ops::OpCases* const cases = CasesOf(request, parsed->c.op);
  if (cases == nullptr) return absl::OkStatus();
  const absl::Status status = ops::CheckSizes(*cases, parsed->c);
  return status.ok() ? status : NoCase(id, status.message());
}

absl::Status NothingFits(const RunRequest& request) {
  const OpsRequest& ops = request.ops;
  if (!ops.edge.empty() && !IsGlob(ops.edge) && EdgeTitle(ops.edge).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--edge ", ops.edge,
                     ": there is no such edge; docs/conformance.md lists them, X01 and on"));
  }
  if (!ops.op.empty() && ops.builtin != nullptr) {
    const std::set<std::string> names = OpNames(request);
    bool fits = false;
    for (const std::string& name : names) fits = fits || GlobMatches(ops.op, name);
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--op ", ops.op, ": there is no such op; there are: ", absl::StrJoin(names, ", ")));
    }
  }
  return absl::InvalidArgumentError(
      "no case fits --op, --format, --kernel, --edge and --filter together; --list shows what "
      "there is");
}

}  // namespace halyard::conformance
