// SPDX-License-Identifier: Apache-2.0
#include "hal/shared_library.h"

#include <dlfcn.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "hal/elf_file.h"

namespace halyard::hal {
namespace {

// The undefined name that dlerror tells, or nothing.
absl::string_view UndefinedSymbol(absl::string_view text) {
  constexpr absl::string_view kMark = "undefined symbol: ";
  const size_t at = text.find(kMark);
  if (at == absl::string_view::npos) return {};
  const absl::string_view rest = text.substr(at + kMark.size());
  return rest.substr(0, rest.find_first_of(" ,\t\n"));
}

absl::Status OpenFailure(const std::string& path, absl::string_view text) {
  const absl::string_view symbol = UndefinedSymbol(text);
  if (!symbol.empty()) {
    const bool of_core = absl::StartsWith(symbol, "hy_") || absl::StrContains(symbol, "halyard");
    return absl::InvalidArgumentError(absl::StrCat(
        path, " uses ", symbol, ", which nothing defines: ",
        of_core ? "a plugin links nothing of Halyard's core; what it may call comes with "
                  "hy_host_services"
                : "link the library that has it (-Wl,--no-undefined finds this when building)",
        " [", text, "]"));
  }
  if (absl::StrContains(text, "version `")) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " was built on a later system than this one: build it here [", text, "]"));
  }
  if (absl::StrContains(text, "cannot open shared object file")) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " needs a library that is not installed [", text, "]"));
  }
  return absl::InvalidArgumentError(absl::StrCat("cannot load ", path, " [", text, "]"));
}

}  // namespace

void* SharedLibrary::Find(const char* symbol) const { return dlsym(handle_, symbol); }

absl::StatusOr<SharedLibrary> OpenSharedLibrary(const std::string& path) {
  HY_RETURN_IF_ERROR(CheckSharedLibrary(path));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* text = dlerror();
    return OpenFailure(path, text == nullptr ? "no reason given" : text);
  }
  return SharedLibrary(library);
}

}  // namespace halyard::hal
