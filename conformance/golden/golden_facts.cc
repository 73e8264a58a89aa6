// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/golden_facts.h"

#include "absl/strings/str_cat.h"
#include "conformance/machine.h"
#include "conformance/ops/op_facts.h"
#include "conformance/suite_version.h"

namespace halyard::conformance {
namespace {

std::string SourceText(const std::string& commit, const std::string& dirty) {
  return absl::StrCat(commit, dirty == "yes" ? " with changes on top" : "");
}

// The key covers inputs; what it cannot cover is a change of the reference itself.
std::string NoteOn(const GoldenPack& pack, const RunResult& run) {
  const std::string theirs = SourceText(pack.Meta(kCommitFact), pack.Meta(kDirtyFact));
  const std::string ours = SourceText(run.Fact(kCommitFact), run.Fact(kDirtyFact));
  const bool known = run.Fact(kDirtyFact) == "no" && ours != "unknown";
  if (theirs == ours && known) return "";
  if (theirs == ours) {
    return absl::StrCat("the pack and this program are both of source ", ours,
                        ", which need not be the same");
  }
  return absl::StrCat("the pack is of source ", theirs, ", this program of ", ours,
                      ": a reference that changed in between is not seen");
}

}  // namespace

GoldenMeta GoldenMetaHere(const std::string& tier) {
  GoldenMeta meta;
  for (const auto& [name, value] : MachineFacts()) {
    for (const char* wanted : {kSuiteFact, kCommitFact, kDirtyFact, "compiler", "arch"}) {
      if (name == wanted) meta.emplace_back(name, value);
    }
  }
  meta.emplace_back("tier", tier);
  return meta;
}

void AddGoldenFacts(const GoldenPack* pack, RunResult* run) {
  if (pack == nullptr) return;
  SetFact(kGoldenFact, pack->digest(), run);
  SetFact(kGoldenByFact,
          absl::StrCat("halyard ", pack->Meta(kSuiteFact), ", source ",
                       SourceText(pack->Meta(kCommitFact), pack->Meta(kDirtyFact)), ", ",
                       pack->Meta("compiler"), ", ", pack->Meta("arch")),
          run);
  const std::string note = NoteOn(*pack, *run);
  if (!note.empty()) SetFact(kGoldenNoteFact, note, run);
}

void CountGoldenCases(RunResult* run) {
  if (run->Fact(kGoldenFact).empty()) return;
  uint64_t golden = 0;
  uint64_t computed = 0;
  for (const CaseResult& one : run->cases) {
    const std::string* const by = one.Fact(kExpectedByFact);
    if (by != nullptr) ++(*by == kByPack ? golden : computed);
  }
  SetFact(kGoldenCasesFact, absl::StrCat(golden), run);
  SetFact(kComputedCasesFact, absl::StrCat(computed), run);
}

std::string GoldenText(const RunResult& run) {
  const std::string digest = run.Fact(kGoldenFact);
  if (digest.empty()) return "";
  std::string text =
      absl::StrCat("Golden pack ", digest.substr(0, 16), ": ", run.Fact(kGoldenCasesFact),
                   " cases were held against it, ", run.Fact(kComputedCasesFact),
                   " against what was computed here.\n");
  const std::string note = run.Fact(kGoldenNoteFact);
  return note.empty() ? text : absl::StrCat(text, "Note: ", note, ".\n");
}

}  // namespace halyard::conformance
