// SPDX-License-Identifier: Apache-2.0
#include "ops/data/distribution.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace halyard::ops {
namespace {

struct NamedDist {
  const char* name;
  Dist dist;
};

constexpr NamedDist kNamed[] = {
    {"lossless", Dist::kLossless}, {"lossless_asym", Dist::kLosslessAsym},
    {"walking", Dist::kWalking},   {"uniform", Dist::kUniform},
    {"normal", Dist::kNormal},     {"llm", Dist::kLlm},
    {"positive", Dist::kPositive}, {"cancel", Dist::kCancel},
    {"extreme", Dist::kExtreme},   {"subnormal", Dist::kSubnormal},
    {"planted", Dist::kPlanted},   {"equal", Dist::kEqual},
    {"onehot", Dist::kOnehot},     {"random-bits", Dist::kRandomBits},
};

}  // namespace

absl::string_view DistName(Dist dist) {
  for (const NamedDist& named : kNamed) {
    if (named.dist == dist) return named.name;
  }
  return "none";
}

absl::StatusOr<Dist> ParseDist(absl::string_view name) {
  std::string known;
  for (const NamedDist& named : kNamed) {
    if (name == named.name) return named.dist;
    absl::StrAppend(&known, known.empty() ? "" : ", ", named.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is no distribution; there are ", known));
}

absl::Span<const Dist> AllDists() {
  static constexpr Dist all[] = {
      Dist::kLossless, Dist::kLosslessAsym, Dist::kWalking, Dist::kUniform,   Dist::kNormal,
      Dist::kLlm,      Dist::kPositive,     Dist::kCancel,  Dist::kExtreme,   Dist::kSubnormal,
      Dist::kPlanted,  Dist::kEqual,        Dist::kOnehot,  Dist::kRandomBits};
  return all;
}

}  // namespace halyard::ops
