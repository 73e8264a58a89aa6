// SPDX-License-Identifier: Apache-2.0
#include "hal/loader.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "hal/manifest.h"
#include "hal/shared_library.h"

namespace halyard::hal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPortsFolder = "halyard/ports";

void AddFolder(const fs::path& folder, std::vector<std::string>* folders) {
  const fs::path normal = folder.lexically_normal();
  const std::string text = (normal.has_filename() ? normal : normal.parent_path()).string();
  if (std::find(folders->begin(), folders->end(), text) == folders->end()) {
    folders->push_back(text);
  }
}

std::vector<std::string> SearchFolders(const LoadOptions& options) {
  std::vector<std::string> folders;
  if (const char* paths = std::getenv("HALYARD_PORT_PATH"); paths != nullptr) {
    for (absl::string_view path : absl::StrSplit(paths, ':', absl::SkipEmpty())) {
      AddFolder(std::string(path), &folders);
    }
  }
  for (const std::string& path : options.search_path) AddFolder(path, &folders);
  // Beside the program, wherever the prefix was moved to; "lib" is that of a build tree.
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path prefix = program.parent_path().parent_path();
    AddFolder(prefix / HALYARD_LIBDIR / kPortsFolder, &folders);
    AddFolder(prefix / "lib" / kPortsFolder, &folders);
  }
  return folders;
}

std::vector<std::string> ManifestsIn(const std::string& folder) {
  std::vector<std::string> manifests;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (absl::EndsWith(path, kManifestSuffix)) manifests.push_back(path);
  }
  std::sort(manifests.begin(), manifests.end());
  return manifests;
}

absl::StatusOr<hy_hal_get_fn> OpenPlugin(const std::string& path) {
  HY_ASSIGN_OR_RETURN(const SharedLibrary library, OpenSharedLibrary(path));
  void* entry = library.Find(HY_HAL_GET_NAME);
  if (entry == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no Halyard port: it exports no " HY_HAL_GET_NAME
                           ". The macro HALYARD_HAL_DEFINE of halyard/hal_port.h writes it"));
  }
  return reinterpret_cast<hy_hal_get_fn>(entry);
}

absl::StatusOr<std::shared_ptr<Port>> LoadManifest(const std::string& path) {
  HY_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(path));
  HY_RETURN_IF_ERROR(CheckManifest(manifest));
  HY_ASSIGN_OR_RETURN(const hy_hal_get_fn get, OpenPlugin(manifest.file));
  return AdoptPort(get, manifest.name, manifest.file);
}

absl::StatusOr<std::shared_ptr<Port>> LoadPath(absl::string_view given) {
  // Without a slash dlopen would look in the system's library folders.
  const std::string path =
      absl::StrContains(given, '/') ? std::string(given) : absl::StrCat("./", given);
  if (absl::EndsWith(path, kManifestSuffix)) return LoadManifest(path);
  HY_ASSIGN_OR_RETURN(const hy_hal_get_fn get, OpenPlugin(path));
  return AdoptPort(get, "", path);
}

absl::Status NoSuchPort(absl::string_view word, const LoadOptions& options) {
  std::vector<std::string> names;
  for (const PortListing& port : ListPorts(options)) names.push_back(port.name);
  return absl::NotFoundError(
      absl::StrCat("there is no port '", word,
                   "'; there are: ", names.empty() ? "none" : absl::StrJoin(names, ", "),
                   ". A plugin is named by its path, or by a manifest ", word, kManifestSuffix,
                   " in one of: ", absl::StrJoin(SearchFolders(options), ", ")));
}

absl::StatusOr<std::shared_ptr<Port>> LoadWord(absl::string_view word, const LoadOptions& options) {
  for (const BuiltinPort& builtin : options.builtins) {
    if (word == builtin.name) return AdoptPort(builtin.get, word, "built in");
  }
  if (!IsPortName(word)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", word,
        "' names no port: a name is made of lower-case letters, digits and underscores, and a path "
        "has a slash or ends in .so"));
  }
  for (const std::string& folder : SearchFolders(options)) {
    const fs::path manifest = fs::path(folder) / absl::StrCat(word, kManifestSuffix);
    std::error_code error;
    if (fs::exists(manifest, error)) return LoadManifest(manifest.string());
  }
  return NoSuchPort(word, options);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Port>> LoadPort(absl::string_view word_or_path,
                                               const LoadOptions& options) {
  if (word_or_path.empty()) return absl::InvalidArgumentError("the name of the port is empty");
  const bool is_path = absl::StrContains(word_or_path, '/') ||
                       absl::EndsWith(word_or_path, ".so") ||
                       absl::EndsWith(word_or_path, kManifestSuffix);
  return is_path ? LoadPath(word_or_path) : LoadWord(word_or_path, options);
}

std::vector<PortListing> ListPorts(const LoadOptions& options) {
  std::vector<PortListing> ports;
  std::set<std::string> names;
  for (const BuiltinPort& builtin : options.builtins) {
    if (names.insert(builtin.name).second) ports.push_back({builtin.name, "built in", ""});
  }
  for (const std::string& folder : SearchFolders(options)) {
    for (const std::string& path : ManifestsIn(folder)) {
      std::string name = fs::path(path).filename().string();
      name.resize(name.size() - kManifestSuffix.size());
      const absl::StatusOr<Manifest> manifest = ReadManifest(path);
      std::string problem(manifest.status().message());
      if (!names.insert(name).second) {
        problem = "hidden: a port of that name comes first; name it by its path";
      }
      ports.push_back({std::move(name), path, std::move(problem)});
    }
  }
  return ports;
}

}  // namespace halyard::hal
