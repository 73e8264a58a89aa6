// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/golden_walk.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "conformance/golden/byte_order.h"
#include "conformance/golden/expectation.h"
#include "conformance/graph/graph_case_id.h"
#include "conformance/ops/fixture.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/op_check.h"
#include "conformance/ops/weak_values.h"
#include "registry/fit.h"
#include "registry/select.h"

namespace halyard::conformance {
namespace {

using reference::Expected;
using reference::Numerics;

class GroupWalk {
 public:
  GroupWalk(const UnderTest& under_test, const TestedOp& op) : under_test_(under_test), op_(op) {}

  void Walk(const ops::Case& c) {
    const std::vector<Numerics> weak = Add(c, nullptr);
    if (weak.empty() || !IsPlainDistribution(c.dist)) return;
    ops::Case other = c;
    ++other.seed;
    Add(other, &weak);
  }

  std::vector<GoldenArgs> Finish() {
    for (GoldenArgs& entry : found_) SortExpectations(&entry.all);
    return std::move(found_);
  }

 private:
  // Computes what the case lacks of `wanted`, by default all that fits it. Gives the numerics whose
  // values say so little that a run asks for those of other data.
  std::vector<Numerics> Add(const ops::Case& c, const std::vector<Numerics>* wanted) {
    std::vector<Numerics> weak;
    const absl::StatusOr<std::unique_ptr<Fixture>> fixture =
        Fixture::Make(op_, c, nullptr, GuardSide::kAfter);
    if (!fixture.ok()) return weak;
    (*fixture)->memory().Reset(kPoisonNan);
    const std::vector<uint64_t> args = (*fixture)->CanonicalArgs();
    GoldenArgs& entry = EntryOf(c, args.data());
    for (const Numerics& numerics : wanted == nullptr ? Fitting(args.data()) : *wanted) {
      if (Has(entry, numerics)) continue;
      absl::StatusOr<Expected> expected = ComputeExpectation(op_, args.data(), numerics);
      if (!expected.ok()) continue;  // a run says so of each kernel
      if (!StrengthOf(op_.op->desc(), *expected, nullptr).speaks()) weak.push_back(numerics);
      ToLittleEndian(*op_.op, args.data(), &*expected);
      entry.all.push_back({numerics, *std::move(expected)});
    }
    return weak;
  }

  GoldenArgs& EntryOf(const ops::Case& c, const void* args) {
    const GoldenKey key = KeyOf(*op_.op, args);
    for (GoldenArgs& entry : found_) {
      if (entry.key == key) return entry;
    }
    found_.push_back({ops::CaseText(c), key, {}});
    return found_.back();
  }

  static bool Has(const GoldenArgs& entry, const Numerics& numerics) {
    return std::any_of(entry.all.begin(), entry.all.end(), [&](const GoldenExpectation& one) {
      return SameNumerics(one.numerics, numerics);
    });
  }

  // Kernels in plain loops declare on every machine what those for its vector units do, so that these
  // are the numerics of kernels elsewhere as well.
  std::vector<Numerics> Fitting(const void* args) const {
    std::vector<Numerics> all;
    for (const registry::Kernel* kernel : op_.op->kernels()) {
      const Numerics numerics = NumericsOf(kernel->desc());
      const bool known = std::any_of(
          all.begin(), all.end(), [&](const Numerics& one) { return SameNumerics(one, numerics); });
      if (known || kernel->disabled()) continue;
      registry::Request request{op_.op, args, TargetHere(1)};
      request.only = kernel;
      const registry::Fit fit =
          registry::FitKernel(under_test_.registry(), request, *kernel, false);
      if (fit.verdict == registry::Verdict::kPassedOver) all.push_back(numerics);
    }
    return all;
  }

  const UnderTest& under_test_;
  const TestedOp& op_;
  std::vector<GoldenArgs> found_;
};

}  // namespace

absl::StatusOr<std::vector<GoldenGroup>> GroupsOf(const std::vector<ListedCase>& plan) {
  std::map<std::string, std::map<std::string, ops::Case>> groups;  // by text without lay, by text
  for (const ListedCase& one : plan) {
    if (IsOpCheckId(one.id) || IsGraphCaseId(one.id)) continue;
    HY_ASSIGN_OR_RETURN(const OpCaseId id, ParseOpCaseId(one.id));
    if (id.c.dist == "random-bits") continue;
    ops::Case dense = id.c;
    dense.lay = "dense";
    groups[ops::CaseText(dense)].emplace(ops::CaseText(id.c), id.c);
  }
  std::vector<GoldenGroup> list;
  for (const auto& [text, cases] : groups) {
    GoldenGroup& group = list.emplace_back();
    for (const auto& [case_text, c] : cases) group.push_back(c);
  }
  return list;
}

void SortExpectations(std::vector<GoldenExpectation>* inout) {
  const auto order = [](const GoldenExpectation& one) {
    return std::tuple(one.numerics.activation, one.numerics.accumulator, one.numerics.flags);
  };
  std::sort(inout->begin(), inout->end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  const auto last = std::unique(inout->begin(), inout->end(),
                                [&](const auto& a, const auto& b) { return order(a) == order(b); });
  inout->erase(last, inout->end());
}

std::vector<GoldenArgs> WalkGroup(const UnderTest& under_test, const GoldenGroup& group) {
  const TestedOp* const op = under_test.Find(group.front().op);
  if (op == nullptr) return {};
  GroupWalk walk(under_test, *op);
  for (const ops::Case& c : group) walk.Walk(c);
  return walk.Finish();
}

}  // namespace halyard::conformance
