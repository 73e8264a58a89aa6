// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "conformance/filter.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/shape_builder.h"
#include "registry/fit.h"
#include "registry/select.h"

namespace halyard::conformance {
namespace {

constexpr int kRefusalsKept = 2;    // of one kernel for one reason
constexpr int kCasesForParams = 3;  // on which every other value of a parameter is tried
constexpr int kAutoCases = 2;       // of one op and types that the registry's runner runs

/// A case built without memory.
struct Shaped {
  std::vector<uint64_t> words;
  bool valid = false;
  const void* args() const { return words.data(); }
};

Shaped Shape(const TestedOp& op, const ops::Case& c, const hy_layout_desc* layout) {
  Shaped shaped;
  shaped.words.assign((op.op->desc().args_bytes + 7) / 8, 0);
  ShapeBuilder builder(&c, layout);
  hy_why why = {};
  shaped.valid = builder.status().ok() && op.cases->build(c, builder, shaped.words.data()).ok() &&
                 op.op->desc().validate(shaped.args(), &why) == HY_OK;
  return shaped;
}

/// Lists the cases of one op.
class Lister {
 public:
  Lister(const UnderTest& under_test, const TestedOp& op, const std::string& kernels,
         std::vector<ListedCase>* out)
      : under_test_(under_test), op_(op), kernels_(kernels), out_(out) {}

  void List(const ops::Case& c) {
    const Shaped plain = Shape(op_, c, nullptr);
    const int64_t rows = plain.valid ? hy_tensor_rows(&op_.op->tensor(0, plain.args())) : 1;
    OpCaseId id{c, ChooseWorkers(c, rows), {}, ""};
    for (const registry::Kernel* kernel : op_.op->kernels()) {
      if (kernel->disabled()) continue;
      if (kernels_.empty() || GlobMatches(kernels_, kernel->id())) ListKernel(id, *kernel, plain);
    }
    if (!plain.valid || c.dist == "random-bits" || autos_[TypesText(c)]++ >= kAutoCases) return;
    ListRegistryRuns(id, plain);
  }

 private:
  void ListKernel(OpCaseId id, const registry::Kernel& kernel, const Shaped& plain) {
    const bool packs = kernel.desc().layout != HY_LAYOUT_CANONICAL;
    // A case of packed weights is one of kernels that take them; others have it without.
    const absl::StatusOr<ops::Lay> lay = ops::ParseLay(id.c.lay);
    if (!packs && lay.ok() && lay->packed) return;
    const registry::Layout* const layout =
        packs ? under_test_.registry().FindLayout(kernel.desc().layout) : nullptr;
    const Shaped shaped = layout == nullptr ? plain : Shape(op_, id.c, &layout->desc);
    id.kernel = std::string(kernel.id());
    // One that cannot be built is listed, so that it fails where it can be seen.
    if (shaped.valid && !Wanted(id, kernel, shaped)) return;
    Put(id, shaped);
    if (shaped.valid) ListParams(id, kernel, shaped);
  }

  void ListRegistryRuns(OpCaseId id, const Shaped& plain) {
    const absl::StatusOr<ops::Lay> lay = ops::ParseLay(id.c.lay);
    for (const char* kernel : {kKernelAuto, kKernelDevice}) {
      if (!kernels_.empty() && !GlobMatches(kernels_, kernel)) continue;
      // Addresses that far apart are reserved on the host; no device has as much.
      if (kernel == kKernelDevice && lay.ok() && lay->far) continue;
      id.kernel = kernel;
      Put(id, plain);
    }
  }

  bool Wanted(const OpCaseId& id, const registry::Kernel& kernel, const Shaped& shaped) {
    registry::Request request{op_.op, shaped.args(), TargetHere(id.workers)};
    request.only = &kernel;
    const registry::Fit fit = registry::FitKernel(under_test_.registry(), request, kernel, false);
    switch (fit.verdict) {
      case registry::Verdict::kTypes:
      case registry::Verdict::kIsa:
      case registry::Verdict::kActivation:
      case registry::Verdict::kLayout:
        return false;
      case registry::Verdict::kPredicate:
        return refusals_[absl::StrCat(kernel.id(), " ", fit.reason)]++ < kRefusalsKept;
      default:
        return true;
    }
  }

  void ListParams(const OpCaseId& id, const registry::Kernel& kernel, const Shaped& shaped) {
    const hy_kernel_desc& desc = kernel.desc();
    if (desc.param_count == 0 || param_cases_[desc.id]++ >= kCasesForParams) return;
    for (uint32_t p = 0; p < desc.param_count; ++p) {
      for (uint32_t v = 1; v < desc.params[p].value_count; ++v) {
        OpCaseId other = id;
        other.params = {{desc.params[p].name, desc.params[p].values[v]}};
        Put(other, shaped);
      }
    }
  }

  void Put(const OpCaseId& id, const Shaped& shaped) {
    ListedCase listed{OpCaseIdText(id), id.c.op, TypesText(id.c), id.kernel, "", 0};
    if (!seen_.insert(listed.id).second) return;  // lists may name a case twice
    if (shaped.valid) {
      listed.edges = absl::StrJoin(EdgesOf(id, *op_.op, shaped.args()), " ");
      if (op_.op->desc().flops != nullptr) listed.work = op_.op->desc().flops(shaped.args());
    }
    out_->push_back(std::move(listed));
  }

  const UnderTest& under_test_;
  const TestedOp& op_;
  const std::string& kernels_;
  std::vector<ListedCase>* const out_;
  std::map<std::string, int> refusals_;
  std::map<std::string, int> param_cases_;
  std::map<std::string, int> autos_;
  std::set<std::string> seen_;
};

/// Cases of an op that its own list lacks: each layout of memory for each tuple of types, made of a
/// plain case that is there.
class Deriver {
 public:
  Deriver(const TestedOp& op, const std::vector<ops::Case>& listed) : op_(op), listed_(listed) {}

  std::vector<ops::Case> Derive() const {
    std::vector<ops::Case> derived;
    std::set<std::string> done;
    for (const ops::Case& c : listed_) {
      if (!IsPlain(c) || !done.insert(TypesText(c)).second) continue;
      for (const char* lay : {"pad64+off4", "off2", "far", "packed"}) AddLay(c, lay, &derived);
      ops::Case bits = c;
      bits.dist = "random-bits";
      derived.push_back(std::move(bits));
    }
    return derived;
  }

 private:
  // A small one with more than one row, which every layout can hold.
  bool IsPlain(const ops::Case& c) const {
    if (c.lay != "dense") return false;
    const Shaped shaped = Shape(op_, c, nullptr);
    if (!shaped.valid) return false;
    bool has_rows = false;
    for (size_t i = 0; i < op_.op->operands().size(); ++i) {
      const hy_tensor& t = op_.op->tensor(i, shaped.args());
      if (!hy_tensor_present(&t)) continue;
      if (ops::SpanBytes(t) == 0 || ops::SpanBytes(t) > (1 << 20)) return false;
      has_rows = has_rows || (t.rank > 1 && hy_tensor_rows(&t) > 1);
    }
    return has_rows;
  }

  void AddLay(const ops::Case& c, absl::string_view lay, std::vector<ops::Case>* out) const {
    if (lay == "far" && sizeof(void*) < 8) return;
    if (lay == "packed" && op_.op->packable() == HY_ID_NONE) return;
    for (const ops::Case& other : listed_) {
      if (other.lay == lay && other.types == c.types) return;
    }
    ops::Case derived = c;
    derived.lay = std::string(lay);
    if (Shape(op_, derived, nullptr).valid) out->push_back(std::move(derived));
  }

  const TestedOp& op_;
  const std::vector<ops::Case>& listed_;
};

}  // namespace

std::string TypesText(const ops::Case& c) {
  return absl::StrJoin(c.types, ".",
                       [](std::string* out, uint32_t type) { out->append(hy_type_name(type)); });
}

std::vector<ops::Case> CasesOf(const TestedOp& op, ops::Tier tier) {
  std::vector<ops::Case> cases;
  op.cases->enumerate(tier, &cases);
  const std::vector<ops::Case> derived = Deriver(op, cases).Derive();
  cases.insert(cases.end(), derived.begin(), derived.end());
  return cases;
}

std::vector<ListedCase> ListOpCases(const UnderTest& under_test, const ListFilter& filter) {
  std::vector<ListedCase> list;
  for (const TestedOp& op : under_test.ops()) {
    if (!filter.op.empty() && !GlobMatches(filter.op, op.op->name())) continue;
    Lister lister(under_test, op, filter.kernel, &list);
    for (const ops::Case& c : CasesOf(op, filter.tier)) lister.List(c);
  }
  return list;
}

std::string ListedCasesToText(const std::vector<ListedCase>& cases) {
  std::string text;
  for (const ListedCase& one : cases) {
    absl::StrAppend(&text, one.id, "\t", one.op, "\t", one.types, "\t", one.kernel, "\t", one.edges,
                    "\t", one.work, "\n");
  }
  return text;
}

absl::StatusOr<std::vector<ListedCase>> ListedCasesFromText(absl::string_view text) {
  std::vector<ListedCase> cases;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    ListedCase one;
    if (parts.size() != 6 || !absl::SimpleAtoi(parts[5], &one.work)) {
      return absl::InternalError("the list of cases is cut");
    }
    one.id = parts[0];
    one.op = parts[1];
    one.types = parts[2];
    one.kernel = parts[3];
    one.edges = parts[4];
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace halyard::conformance
