// SPDX-License-Identifier: Apache-2.0
#include "registry/overrides.h"

#include <fnmatch.h>

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/log.h"

namespace halyard::registry {
namespace {

constexpr char kForce[] = "HALYARD_FORCE_KERNEL";
constexpr char kDisable[] = "HALYARD_DISABLE_KERNEL";

bool Matches(const std::string& glob, const Kernel& kernel) {
  return fnmatch(glob.c_str(), std::string(kernel.id()).c_str(), 0) == 0;
}

std::string ForcePart(absl::string_view part, Registry* registry) {
  const std::vector<std::string> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
  if (sides.size() != 2 || sides[0].empty() || sides[1].empty())
    return absl::StrCat(kForce, ": '", part, "' is not op=kernel");
  const Op* op = registry->FindOp(sides[0]);
  if (op == nullptr) return absl::StrCat(kForce, ": there is no op ", sides[0]);
  bool found = false;
  for (const Kernel* kernel : op->kernels()) {
    if (!Matches(sides[1], *kernel)) continue;
    registry->Mark(*kernel, true, kernel->disabled());
    found = true;
  }
  if (found) return "";
  return absl::StrCat(kForce, ": ", sides[0], " has no kernel ", sides[1], "; `halyard explain ",
                      sides[0], "` lists them");
}

std::string DisablePart(const std::string& glob, Registry* registry) {
  bool found = false;
  for (const Kernel* kernel : registry->kernels()) {
    if (!Matches(glob, *kernel)) continue;
    registry->Mark(*kernel, kernel->forced(), true);
    found = true;
  }
  return found ? "" : absl::StrCat(kDisable, ": no kernel matches ", glob);
}

const char* Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<std::string> ApplyOverrides(absl::string_view force, absl::string_view disable,
                                        Registry* registry) {
  std::vector<std::string> problems;
  const auto keep = [&problems](std::string problem) {
    if (!problem.empty()) problems.push_back(std::move(problem));
  };
  for (absl::string_view part : absl::StrSplit(disable, ',', absl::SkipWhitespace()))
    keep(DisablePart(std::string(absl::StripAsciiWhitespace(part)), registry));
  for (absl::string_view part : absl::StrSplit(force, ',', absl::SkipWhitespace()))
    keep(ForcePart(absl::StripAsciiWhitespace(part), registry));
  return problems;
}

void ApplyEnvironment(Registry* registry) {
  for (const std::string& problem :
       ApplyOverrides(Environment(kForce), Environment(kDisable), registry)) {
    Log(LogLevel::kWarning, problem);
  }
}

}  // namespace halyard::registry
