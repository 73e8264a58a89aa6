// SPDX-License-Identifier: Apache-2.0
#include "hal/manifest.h"

#include <sha2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "halyard/hal.h"

namespace halyard::hal {
namespace {

struct Key {
  const char* text;
  std::string Manifest::*field;
  bool needed;
};

// "abi" is not here: it becomes two numbers.
constexpr Key kKeys[] = {
    {"name", &Manifest::name, true},          {"file", &Manifest::file, true},
    {"min_host", &Manifest::min_host, false}, {"sha256", &Manifest::sha256, false},
    {"vendor", &Manifest::vendor, false},     {"description", &Manifest::description, false},
};

absl::Status Wrong(const YAML::Mark& mark, absl::string_view why) {
  return absl::InvalidArgumentError(
      mark.is_null() ? std::string(why) : absl::StrCat("line ", mark.line + 1, ": ", why));
}

bool ParseDigits(absl::string_view text, uint32_t* out) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, out);
}

// "1.2" or "1.2.3" into numbers; missing ones are 0.
bool ParseVersion(absl::string_view text, size_t least, size_t most, std::array<uint32_t, 3>* out) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  if (parts.size() < least || parts.size() > most) return false;
  out->fill(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!ParseDigits(parts[i], &(*out)[i])) return false;
  }
  return true;
}

absl::Status SetKey(const std::string& key, const std::string& value, Manifest* manifest) {
  if (key == "abi") {
    std::array<uint32_t, 3> abi;
    if (!ParseVersion(value, 2, 2, &abi)) {
      return absl::InvalidArgumentError("abi is not of the form \"1.0\"");
    }
    manifest->abi_major = abi[0];
    manifest->abi_minor = abi[1];
    return absl::OkStatus();
  }
  for (const Key& known : kKeys) {
    if (key != known.text) continue;
    manifest->*known.field = value;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown key '", key, "'"));
}

absl::StatusOr<Manifest> FromYaml(const YAML::Node& root) {
  if (!root.IsMap()) return absl::InvalidArgumentError("holds no keys");
  Manifest manifest;
  std::set<std::string> seen;
  for (const auto& entry : root) {
    const YAML::Mark mark = entry.first.Mark();
    if (!entry.first.IsScalar()) return Wrong(mark, "a key is not a word");
    const std::string key = entry.first.Scalar();
    if (!seen.insert(key).second) return Wrong(mark, absl::StrCat("key '", key, "' twice"));
    if (!entry.second.IsScalar() || entry.second.Scalar().empty()) {
      return Wrong(mark, absl::StrCat("the value of '", key, "' is not a text"));
    }
    const absl::Status set = SetKey(key, entry.second.Scalar(), &manifest);
    if (!set.ok()) return Wrong(mark, set.message());
  }
  if (seen.count("abi") == 0) return absl::InvalidArgumentError("key 'abi' is missing");
  for (const Key& key : kKeys) {
    if (key.needed && seen.count(key.text) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("key '", key.text, "' is missing"));
    }
  }
  return manifest;
}

// The one place where exceptions of yaml-cpp are caught.
absl::StatusOr<Manifest> ParseManifest(const std::string& text) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() != 1) return absl::InvalidArgumentError("is not one YAML document");
    return FromYaml(documents[0]);
  } catch (const YAML::Exception& error) {
    return Wrong(error.mark, error.msg);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

absl::Status CheckValues(const std::string& stem, const Manifest& manifest) {
  if (!IsPortName(manifest.name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "name '", manifest.name, "' is not made of lower-case letters, digits and underscores"));
  }
  if (manifest.name != stem) {
    return absl::InvalidArgumentError(absl::StrCat("names the port '", manifest.name,
                                                   "', so call the file ", manifest.name,
                                                   std::string(kManifestSuffix)));
  }
  std::array<uint32_t, 3> version;
  if (!manifest.min_host.empty() && !ParseVersion(manifest.min_host, 1, 3, &version)) {
    return absl::InvalidArgumentError("min_host is not of the form \"0.1.0\"");
  }
  const std::string& digest = manifest.sha256;
  if (!digest.empty() &&
      (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    return absl::InvalidArgumentError("sha256 is not 64 lower-case hex digits");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  constexpr std::streamsize kMostBytes = 16384;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int error = errno;
    if (error == EACCES) return absl::PermissionDeniedError(std::strerror(error));
    return absl::NotFoundError(std::strerror(error == 0 ? ENOENT : error));
  }
  std::string text(static_cast<size_t>(kMostBytes), '\0');
  file.read(text.data(), kMostBytes);
  if (file.gcount() == kMostBytes) return absl::InvalidArgumentError("is too long for a manifest");
  if (file.bad() || std::filesystem::is_directory(path)) {
    return absl::InvalidArgumentError("cannot be read");
  }
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

absl::StatusOr<Manifest> ReadChecked(const std::string& path) {
  const std::filesystem::path place(path);
  const std::string file_name = place.filename().string();
  absl::string_view stem = file_name;
  if (!absl::ConsumeSuffix(&stem, kManifestSuffix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("does not end in ", std::string(kManifestSuffix)));
  }
  HY_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  HY_ASSIGN_OR_RETURN(Manifest manifest, ParseManifest(text));
  HY_RETURN_IF_ERROR(CheckValues(std::string(stem), manifest));
  manifest.file = (place.parent_path() / manifest.file).string();
  return manifest;
}

absl::Status CheckDigest(const Manifest& manifest) {
  if (manifest.sha256.empty()) return absl::OkStatus();
  char digest[SHA256_DIGEST_STRING_LENGTH] = {};
  if (SHA256File(manifest.file.c_str(), digest) == nullptr) {
    return absl::NotFoundError(absl::StrCat(manifest.file, ": ", std::strerror(errno)));
  }
  if (manifest.sha256 == digest) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(manifest.file, " has the SHA-256 digest ", digest, ", the manifest of port '",
                   manifest.name, "' says ", manifest.sha256,
                   ": the library was changed, or the manifest is of another build"));
}

}  // namespace

bool IsPortName(absl::string_view name) {
  constexpr size_t kMostLetters = 64;
  constexpr absl::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_0123456789";
  constexpr size_t kFirstLetters = 26;
  return !name.empty() && name.size() <= kMostLetters &&
         kLetters.substr(0, kFirstLetters).find(name[0]) != absl::string_view::npos &&
         name.find_first_not_of(kLetters) == absl::string_view::npos;
}

absl::StatusOr<Manifest> ReadManifest(const std::string& path) {
  absl::StatusOr<Manifest> manifest = ReadChecked(path);
  if (manifest.ok()) return manifest;
  const absl::Status& status = manifest.status();
  return absl::Status(status.code(), absl::StrCat("manifest ", path, ": ", status.message()));
}

absl::Status CheckManifest(const Manifest& manifest) {
  if (manifest.abi_major != HY_HAL_ABI_MAJOR) {
    return absl::FailedPreconditionError(absl::StrCat(
        "port '", manifest.name, "' is built for HAL ABI ", manifest.abi_major, ".",
        manifest.abi_minor, ", and this Halyard has ", HY_HAL_ABI_MAJOR, ".", HY_HAL_ABI_MINOR,
        manifest.abi_major > HY_HAL_ABI_MAJOR ? ": update Halyard" : ": build the port anew"));
  }
  std::array<uint32_t, 3> least;
  std::array<uint32_t, 3> own;
  if (!manifest.min_host.empty() && ParseVersion(manifest.min_host, 1, 3, &least) &&
      ParseVersion(HALYARD_VERSION, 1, 3, &own) && own < least) {
    return absl::FailedPreconditionError(absl::StrCat("port '", manifest.name, "' needs Halyard ",
                                                      manifest.min_host, " or later, this is ",
                                                      HALYARD_VERSION, ": update Halyard"));
  }
  return CheckDigest(manifest);
}

}  // namespace halyard::hal
