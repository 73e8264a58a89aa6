// SPDX-License-Identifier: Apache-2.0
#include "ops/case.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace halyard::ops {
namespace {

absl::Status Bad(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("case '", text, "': ", what));
}

// A type by its name; HY_TYPE_COUNT if there is none.
uint32_t TypeOf(absl::string_view name) {
  for (uint32_t type = 0; type < HY_TYPE_COUNT; ++type) {
    if (type != HY_TYPE_NONE && hy_type_facts(type)->block == 0) continue;
    if (name == hy_type_name(type)) return type;
  }
  return HY_TYPE_COUNT;
}

}  // namespace

hy_tensor CaseBuilder::SparseFloats(absl::string_view name, absl::Span<const int64_t> shape,
                                    absl::Span<const int64_t> parts,
                                    absl::Span<const float> values) {
  size_t part_size = 1;
  for (const int64_t size : shape.subspan(1)) part_size *= static_cast<size_t>(size);
  std::vector<float> all(part_size * static_cast<size_t>(shape[0]),
                         std::numeric_limits<float>::quiet_NaN());
  for (size_t i = 0; i < parts.size(); ++i) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * part_size), part_size,
                all.begin() +
                    static_cast<std::ptrdiff_t>(parts[i]) * static_cast<std::ptrdiff_t>(part_size));
  }
  return Floats(name, HY_TYPE_F32, shape, all);
}

int64_t Case::dim(absl::string_view name, int64_t otherwise) const {
  for (const auto& [known, value] : dims) {
    if (known == name) return value;
  }
  return otherwise;
}

std::string CaseText(const Case& c) {
  const auto type_name = [](std::string* out, uint32_t type) { out->append(hy_type_name(type)); };
  const auto dim = [](std::string* out, const std::pair<std::string, int64_t>& d) {
    absl::StrAppend(out, d.first, "=", d.second);
  };
  return absl::StrCat(c.op, "/", absl::StrJoin(c.types, ".", type_name), "/",
                      absl::StrJoin(c.dims, ",", dim), "/dist=", c.dist, "/lay=", c.lay,
                      "/seed=", c.seed);
}

absl::StatusOr<Case> ParseCase(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  if (parts.size() != 6) return Bad(text, "needs op/types/dims/dist=/lay=/seed=");
  Case c;
  c.op = std::string(parts[0]);
  if (c.op.empty()) return Bad(text, "names no op");
  for (const absl::string_view name : absl::StrSplit(parts[1], '.')) {
    c.types.push_back(TypeOf(name));
    if (c.types.back() == HY_TYPE_COUNT) return Bad(text, absl::StrCat("'", name, "' is no type"));
  }
  for (const absl::string_view dim : absl::StrSplit(parts[2], ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(dim, absl::MaxSplits('=', 1));
    int64_t value = 0;
    if (pair.first.empty() || !absl::SimpleAtoi(pair.second, &value)) {
      return Bad(text, absl::StrCat("'", dim, "' is not NAME=INTEGER"));
    }
    for (const auto& [known, unused] : c.dims) {
      if (known == pair.first) return Bad(text, absl::StrCat("'", known, "' is there twice"));
    }
    c.dims.emplace_back(std::string(pair.first), value);
  }
  absl::string_view dist = parts[3];
  absl::string_view lay = parts[4];
  absl::string_view seed = parts[5];
  if (!absl::ConsumePrefix(&dist, "dist=") || dist.empty())
    return Bad(text, "the fourth part must be dist=NAME");
  if (!absl::ConsumePrefix(&lay, "lay=") || lay.empty())
    return Bad(text, "the fifth part must be lay=NAME");
  if (!absl::ConsumePrefix(&seed, "seed=") || !absl::SimpleAtoi(seed, &c.seed)) {
    return Bad(text, "the sixth part must be seed=NUMBER");
  }
  c.dist = std::string(dist);
  c.lay = std::string(lay);
  return c;
}

}  // namespace halyard::ops
