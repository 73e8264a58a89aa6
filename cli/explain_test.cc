// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/explain_case.h"
#include "cli/explain_report.h"
#include "nlohmann/json.hpp"
#include "ops/builtin.h"
#include "registry/plugin.h"

namespace halyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const ops::OpCases& CasesOf(absl::string_view op) {
  for (const ops::OpCases* cases : TheBuiltinOps().cases) {
    if (op == cases->op) return *cases;
  }
  ADD_FAILURE() << op;
  return *TheBuiltinOps().cases[0];
}

class ExplainTest : public ::testing::Test {
 protected:
  ExplainTest() { EXPECT_TRUE(registry_.Add(BuiltinKernelTable(), "built in", true).ok()); }

  // Every kernel of the op, on a machine with all extensions or with none.
  Explained Explain(const std::string& op, const CaseWish& wish, uint64_t isa) {
    Explained explained;
    const ops::OpCases& cases = CasesOf(op);
    const absl::StatusOr<ops::Case> c = MakeCase(cases, wish);
    EXPECT_TRUE(c.ok()) << c.status();
    explained.case_text = ops::CaseText(*c);
    const registry::Op* found = registry_.FindOp(op);
    absl::StatusOr<std::vector<uint64_t>> args = BuildArgs(cases, *c, found->desc().args_bytes);
    EXPECT_TRUE(args.ok()) << args.status();
    explained.target = registry::MakeTarget({isa, isa}, 2, 32);
    explained.where = "a test";
    registry::Request request;
    request.op = found;
    request.args = args->data();
    request.target = explained.target;
    request.may_pack = true;
    absl::StatusOr<registry::Selection> selection =
        registry::Select(registry_, request, &explained.explanation);
    EXPECT_TRUE(selection.ok()) << explained.case_text << ": " << selection.status();
    if (selection.ok()) explained.selection = *std::move(selection);
    return explained;
  }

  registry::Registry registry_;
};

TEST_F(ExplainTest, EverythingOfTheTreeIsTaken) {
  for (const registry::Refusal& refusal : registry_.refusals())
    ADD_FAILURE() << refusal.what << " " << refusal.reason;
  EXPECT_EQ(registry_.ops().size(), TheBuiltinOps().ops.size());
  for (const registry::Op* op : registry_.ops()) EXPECT_TRUE(op->reference().is_reference());
}

// Ops and types of models; for each, every loser says why.
TEST_F(ExplainTest, EachLoserOfEachCallHasAReason) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> calls = {
      {"matmul", {"f32", "f32"}},
      {"matmul", {"f32", "q8_0"}},
      {"matmul", {"f32", "q4_0"}},
      {"matmul", {"f32", "q4_1"}},
      {"matmul", {"f32", "q4_k"}},
      {"matmul", {"f32", "q6_k"}},
      {"matmul", {"f32", "w8a8"}},
      {"matmul", {"bf16", "bf16"}},
      {"matmul", {"f16", "q8_0"}},
      {"matmul_id", {"f32", "q8_0"}},
      {"rmsnorm", {"f32"}},
      {"rmsnorm", {"bf16"}},
      {"add", {"f32"}},
      {"mul", {"f16"}},
      {"softmax", {"f32"}},
      {"rope", {"f32"}},
      {"silu_mul", {"f32"}},
      {"get_rows", {"q8_0", "f32"}},
      {"attention", {"f32"}},
      {"argmax", {"f32"}},
  };
  for (const auto& [op, types] : calls) {
    if (registry_.FindOp(op) == nullptr) continue;
    for (const uint64_t isa : {uint64_t{0}, UINT64_MAX}) {
      const Explained explained = Explain(op, {types, {}}, isa);
      ASSERT_NE(explained.selection.kernel, nullptr) << op;
      EXPECT_EQ(explained.explanation.candidates.size(), registry_.FindOp(op)->kernels().size());
      for (const registry::Candidate& candidate : explained.explanation.candidates)
        EXPECT_FALSE(candidate.reason.empty()) << candidate.kernel->id();
      const std::string text = ExplainText(registry_, explained);
      EXPECT_THAT(text, HasSubstr(absl::StrCat("chosen  ", explained.selection.kernel->id())));
    }
  }
}

TEST_F(ExplainTest, AMachineWithoutExtensionsIsToldWhatItLacks) {
  const Explained explained = Explain("rmsnorm", {{"f32"}, {}}, 0);
  EXPECT_EQ(explained.selection.kernel->id(), "rmsnorm/any/generic_base@halyard");
  const nlohmann::json json = ExplainJson(registry_, explained);
  EXPECT_EQ(json["chosen"], "rmsnorm/any/generic_base@halyard");
  EXPECT_EQ(json["op"], "rmsnorm");
  size_t chosen = 0;
  for (const auto& candidate : json["candidates"]) {
    if (candidate["verdict"] == "chosen") ++chosen;
    if (candidate["verdict"] == "isa") {
      EXPECT_THAT(candidate["reason"].get<std::string>(), HasSubstr("the team lacks "));
    }
  }
  EXPECT_EQ(chosen, 1u);
}

TEST_F(ExplainTest, CasesAreMadeFromTypesAndSizes) {
  absl::StatusOr<ops::Case> c =
      MakeCase(CasesOf("matmul"), {{"F32", "q4_K"}, {{"m", 1}, {"n", 4096}, {"k", 4096}}});
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_THAT(ops::CaseText(*c), HasSubstr("matmul/f32.q4_k.f32/M=1,N=4096,K=4096"));
  EXPECT_EQ(c->lay, "dense");
  c = MakeCase(CasesOf("matmul"), {{}, {{"kk", 3}}});
  EXPECT_EQ(c.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(c.status().message()),
              HasSubstr("matmul has no size kk; it has: M, N, K"));
  c = MakeCase(CasesOf("matmul"), {{"q9"}, {}});
  EXPECT_THAT(std::string(c.status().message()), HasSubstr("there is no type q9; there are: f32"));
  c = MakeCase(CasesOf("matmul"), {{"f32", "f32", "f32", "f32"}, {}});
  EXPECT_THAT(std::string(c.status().message()), HasSubstr("has a tuple of 3 types, not of 4"));
}

TEST_F(ExplainTest, SizesAreRead) {
  const auto sizes = ParseSizes("rows=8,cols=4096");
  ASSERT_TRUE(sizes.ok());
  EXPECT_EQ((*sizes)[1].first, "cols");
  EXPECT_EQ((*sizes)[1].second, 4096);
  EXPECT_TRUE(ParseSizes("")->empty());
  for (const char* bad : {"rows", "rows=", "=3", "rows=x", "rows=-1"})
    EXPECT_THAT(std::string(ParseSizes(bad).status().message()), HasSubstr("name=value")) << bad;
}

TEST_F(ExplainTest, TheListNamesOpsAndProviders) {
  const std::string text = OpsText(registry_);
  EXPECT_THAT(text, HasSubstr("matmul"));
  EXPECT_THAT(text, HasSubstr("x,w,y"));
  EXPECT_THAT(text, HasSubstr("built in"));
  EXPECT_THAT(text, Not(HasSubstr("refused")));
  EXPECT_EQ(OpsJson(registry_)["ops"].size(), registry_.ops().size());
}

}  // namespace
}  // namespace halyard::cli
