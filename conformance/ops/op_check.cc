// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_check.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "conformance/crumbs.h"

namespace halyard::conformance {
namespace {

constexpr char kInvalidArgs[] = "invalid-args";
constexpr char kMaskedIsa[] = "masked-isa";
constexpr char kLayout[] = "layout";

ListedCase Listed(absl::string_view op, absl::string_view check, absl::string_view whom,
                  absl::string_view edge) {
  ListedCase one;
  one.id = absl::StrCat("L1/", op, "/check=", check, "/kern=", whom);
  one.op = std::string(op);
  one.types = std::string(check);
  one.kernel = std::string(whom);
  one.edges = std::string(edge);
  return one;
}

void Report(const std::vector<std::string>& faults, CaseResult* out) {
  out->verdict = faults.empty() ? Verdict::kPass : Verdict::kFail;
  out->reason = faults.empty() ? "" : faults.front();
  for (const std::string& fault : faults) out->findings.push_back({fault, "", 0});
}

std::vector<std::string> Run(const UnderTest& under_test, const TestedOp& op,
                             absl::string_view check, absl::string_view whom) {
  if (check == kInvalidArgs) return TakenWrongArgs(op);
  if (check == kMaskedIsa) {
    const registry::Kernel* const kernel = under_test.registry().FindKernel(whom);
    if (kernel == nullptr) return {absl::StrCat("there is no kernel ", whom)};
    return IsaFaults(under_test, op, *kernel);
  }
  for (const registry::Layout* layout : under_test.registry().layouts()) {
    if (check == kLayout && whom == layout->desc.name) return LayoutFaults(layout->desc);
  }
  return {absl::StrCat("there is no check ", check, " of ", whom)};
}

}  // namespace

bool IsOpCheckId(absl::string_view id) {
  return absl::StartsWith(id, "L1/") && absl::StrContains(id, "/check=");
}

std::vector<ListedCase> ListOpChecks(const UnderTest& under_test) {
  std::vector<ListedCase> list;
  for (const TestedOp& op : under_test.ops()) {
    list.push_back(Listed(op.op->name(), kInvalidArgs, "none", "X09 X33"));
    for (const registry::Kernel* kernel : op.op->kernels()) {
      list.push_back(Listed(op.op->name(), kMaskedIsa, kernel->id(), "X34"));
    }
    if (op.op->name() != "matmul") continue;
    for (const registry::Layout* layout : under_test.registry().layouts()) {
      list.push_back(Listed(op.op->name(), kLayout, layout->desc.name, "X14"));
    }
  }
  return list;
}

void RunOpCheck(const UnderTest& under_test, CaseResult* out) {
  const std::vector<absl::string_view> parts = absl::StrSplit(out->id, absl::MaxSplits('/', 3));
  if (parts.size() != 4) return Report({"the id is cut"}, out);
  const TestedOp* const op = under_test.Find(parts[1]);
  if (op == nullptr) return Report({absl::StrCat("there is no op ", parts[1])}, out);
  NoteStep(absl::StrCat("checking ", parts[2]));
  Report(Run(under_test, *op, parts[2].substr(6), parts[3].substr(5)), out);
  out->facts.emplace_back("mode", "P");
  NoteStep("");
}

}  // namespace halyard::conformance
