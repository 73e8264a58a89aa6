// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_case.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "cli/suggest.h"
#include "halyard/kernel.h"
#include "ops/case_sizes.h"

namespace halyard::cli {
namespace {

using Sizes = std::vector<std::pair<std::string, int64_t>>;

/// Tensors of the shapes that a case asks for, and no memory.
class FormBuilder : public ops::CaseBuilder {
 public:
  explicit FormBuilder(const ops::Case* c) : CaseBuilder(c) {}
  hy_tensor Input(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                  absl::string_view) override {
    return Form(type, shape);
  }
  hy_tensor Weights(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                    absl::string_view) override {
    return Form(type, shape);
  }
  hy_tensor Ints(absl::string_view, absl::Span<const int64_t> shape,
                 absl::Span<const int32_t>) override {
    return Form(HY_TYPE_I32, shape);
  }
  hy_tensor Floats(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                   absl::Span<const float>) override {
    return Form(type, shape);
  }
  hy_tensor Output(absl::string_view, uint32_t type, absl::Span<const int64_t> shape) override {
    return Form(type, shape);
  }
  hy_tensor InOut(absl::string_view, uint32_t type, absl::Span<const int64_t> shape) override {
    return Form(type, shape);
  }
  hy_tensor InPlace(absl::string_view, const hy_tensor& in) override { return in; }
  hy_tensor SparseFloats(absl::string_view, absl::Span<const int64_t> shape,
                         absl::Span<const int64_t>, absl::Span<const float>) override {
    return Form(HY_TYPE_F32, shape);
  }

 private:
  static hy_tensor Form(uint32_t type, absl::Span<const int64_t> shape) {
    return hy_tensor_dense(nullptr, type, static_cast<uint32_t>(shape.size()), shape.data());
  }
};

absl::StatusOr<uint32_t> ParseType(const std::string& word) {
  const std::string name = absl::AsciiStrToLower(word);
  std::vector<std::string> names;
  for (uint32_t type = 1; type < HY_TYPE_COUNT; ++type) {
    if (hy_type_facts(type)->block == 0) continue;
    if (name == hy_type_name(type)) return type;
    names.emplace_back(hy_type_name(type));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no type ", word, "; there are: ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<std::vector<uint32_t>> ParseTypes(const std::vector<std::string>& words) {
  std::vector<uint32_t> types;
  for (const std::string& word : words) {
    HY_ASSIGN_OR_RETURN(const uint32_t type, ParseType(word));
    types.push_back(type);
  }
  return types;
}

std::vector<ops::Case> AllCases(const ops::OpCases& cases) {
  std::vector<ops::Case> all;
  cases.enumerate(ops::Tier::kStandard, &all);
  return all;
}

absl::StatusOr<std::string> FindSize(const std::vector<std::string>& names,
                                     const std::string& wanted, const ops::OpCases& cases) {
  for (const std::string& name : names) {
    if (absl::EqualsIgnoreCase(name, wanted)) return name;
  }
  const std::string nearest = Nearest(wanted, names);
  return absl::InvalidArgumentError(
      absl::StrCat(cases.op, " has no size ", wanted, "; it has: ", absl::StrJoin(names, ", "),
                   nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

// The case whose types agree with the most of those that were given; the first of several.
const ops::Case& Pattern(const std::vector<ops::Case>& all, const std::vector<uint32_t>& types) {
  const auto agreeing = [&types](const ops::Case& c) {
    size_t same = 0;
    while (same < std::min(types.size(), c.types.size()) && c.types[same] == types[same]) ++same;
    return same;
  };
  return *std::max_element(all.begin(), all.end(), [&](const ops::Case& a, const ops::Case& b) {
    return agreeing(a) < agreeing(b);
  });
}

void SetSize(const std::string& name, int64_t value, Sizes* sizes) {
  for (auto& size : *sizes) {
    if (size.first != name) continue;
    size.second = value;
    return;
  }
  sizes->emplace_back(name, value);
}

}  // namespace

absl::StatusOr<ops::Case> MakeCase(const ops::OpCases& cases, const CaseWish& wish) {
  HY_ASSIGN_OR_RETURN(const std::vector<uint32_t> types, ParseTypes(wish.types));
  const std::vector<ops::Case> all = AllCases(cases);
  if (all.empty()) return absl::NotFoundError(absl::StrCat(cases.op, " has no cases"));
  ops::Case c = Pattern(all, types);
  if (types.size() > c.types.size()) {
    return absl::InvalidArgumentError(absl::StrCat(cases.op, " has a tuple of ", c.types.size(),
                                                   " types, not of ", types.size()));
  }
  for (size_t i = 0; i < c.types.size() && !types.empty(); ++i)
    c.types[i] = i < types.size() ? types[i] : types[0];
  const std::vector<std::string> names = ops::SizeNames(cases);
  for (const auto& [wanted, value] : wish.sizes) {
    HY_ASSIGN_OR_RETURN(const std::string name, FindSize(names, wanted, cases));
    SetSize(name, value, &c.dims);
  }
  c.dist = "uniform";
  c.lay = "dense";
  return c;
}

absl::StatusOr<Sizes> ParseSizes(const std::string& text) {
  Sizes sizes;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    int64_t value = 0;
    if (pair.first.empty() || !absl::SimpleAtoi(pair.second, &value) || value < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dims ", part, ": write it as name=value,name=value"));
    }
    sizes.emplace_back(pair.first, value);
  }
  return sizes;
}

absl::StatusOr<std::vector<uint64_t>> BuildArgs(const ops::OpCases& cases, const ops::Case& c,
                                                uint32_t args_bytes) {
  std::vector<uint64_t> args((args_bytes + 7) / 8);
  FormBuilder builder(&c);
  HY_RETURN_IF_ERROR(cases.build(c, builder, args.data()));
  return args;
}

}  // namespace halyard::cli
