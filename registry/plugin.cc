// SPDX-License-Identifier: Apache-2.0
#include "registry/plugin.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "hal/shared_library.h"
#include "registry/overrides.h"

namespace halyard::registry {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKernelsFolder = "halyard/kernels";

absl::Status Refused(const std::string& origin, uint32_t reason) {
  const std::string own = absl::StrCat(HY_KERNEL_ABI_MAJOR, ".", HY_KERNEL_ABI_MINOR);
  switch (reason) {
    case HY_REFUSED_MAJOR:
      return absl::FailedPreconditionError(
          absl::StrCat(origin,
                       " refuses this host: it is of another major version of the kernel "
                       "ABI than ",
                       own, "; build it with the headers of this Halyard"));
    case HY_REFUSED_MINOR:
      return absl::FailedPreconditionError(
          absl::StrCat(origin, " refuses this host: it needs a later kernel ABI than ", own,
                       "; update Halyard"));
    case HY_REFUSED_PLATFORM:
      return absl::UnavailableError(
          absl::StrCat(origin, " refuses this machine: it has no kernels for this platform"));
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(origin, " gave no table of kernels, and as reason ", reason,
                       ", which says nothing: report it to its author"));
  }
}

std::vector<std::string> LibrariesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".so") paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

absl::Status AddByEntry(hy_kernels_get_fn get, const std::string& origin, Registry* registry) {
  uint32_t reason = HY_REFUSED_NONE;
  const hy_kernel_table* table = get(HY_KERNEL_ABI_MAJOR, HY_KERNEL_ABI_MINOR, &reason);
  if (table == nullptr) return Refused(origin, reason);
  return registry->Add(*table, origin, false);
}

absl::Status AddPlugin(const std::string& path, Registry* registry) {
  // Without a slash the system's library folders would be looked through.
  const std::string file = absl::StrContains(path, '/') ? path : absl::StrCat("./", path);
  HY_ASSIGN_OR_RETURN(const hal::SharedLibrary library, hal::OpenSharedLibrary(file));
  void* entry = library.Find(HY_KERNELS_GET_NAME);
  if (entry == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has no kernels: it exports no " HY_KERNELS_GET_NAME
                           ". The macro HALYARD_KERNELS_DEFINE of halyard/kernel.h writes it"));
  }
  return AddByEntry(reinterpret_cast<hy_kernels_get_fn>(entry), path, registry);
}

absl::Status AddPortKernels(const hal::Port& port, Registry* registry) {
  if (port.origin() == "built in") return absl::OkStatus();
  HY_ASSIGN_OR_RETURN(const hal::SharedLibrary library, hal::OpenSharedLibrary(port.origin()));
  void* entry = library.Find(HY_KERNELS_GET_NAME);
  if (entry == nullptr) return absl::OkStatus();
  return AddByEntry(reinterpret_cast<hy_kernels_get_fn>(entry), port.origin(), registry);
}

std::vector<std::string> DefaultKernelFolders() {
  std::vector<std::string> folders;
  if (const char* paths = std::getenv("HALYARD_KERNEL_PATH"); paths != nullptr) {
    for (absl::string_view path : absl::StrSplit(paths, ':', absl::SkipEmpty()))
      folders.emplace_back(path);
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return folders;
  const fs::path prefix = program.parent_path().parent_path();
  folders.push_back((prefix / HALYARD_LIBDIR / kKernelsFolder).string());
  const std::string plain = (prefix / "lib" / kKernelsFolder).string();
  if (plain != folders.back()) folders.push_back(plain);
  return folders;
}

absl::StatusOr<std::unique_ptr<Registry>> MakeRegistry(const hy_kernel_table& built_in,
                                                       const PluginOptions& options) {
  auto registry = std::make_unique<Registry>();
  HY_RETURN_IF_ERROR(registry->Add(built_in, "built in", true));
  if (options.port != nullptr) HY_RETURN_IF_ERROR(AddPortKernels(*options.port, registry.get()));
  for (const std::string& file : options.files) HY_RETURN_IF_ERROR(AddPlugin(file, registry.get()));
  for (const std::string& folder : options.folders) {
    for (const std::string& path : LibrariesIn(folder)) {
      const absl::Status status = AddPlugin(path, registry.get());
      if (!status.ok())
        Log(LogLevel::kWarning, absl::StrCat("kernels left out: ", status.message()));
    }
  }
  ApplyEnvironment(registry.get());
  return registry;
}

}  // namespace halyard::registry
