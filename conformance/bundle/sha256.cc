// SPDX-License-Identifier: Apache-2.0
#include "conformance/bundle/sha256.h"

#include <sys/types.h>
// Needs the types of the header above.
#include <sha2.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace halyard::conformance {

std::string Sha256(absl::string_view bytes) {
  char digest[SHA256_DIGEST_STRING_LENGTH] = {};
  SHA256Data(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), digest);
  return digest;
}

absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  char digest[SHA256_DIGEST_STRING_LENGTH] = {};
  if (SHA256File(path.c_str(), digest) == nullptr) {
    return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  return std::string(digest);
}

}  // namespace halyard::conformance
