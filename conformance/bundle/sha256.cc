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

struct Sha256Stream::State {
  SHA2_CTX context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) { SHA256Init(&state_->context); }

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Add(absl::string_view bytes) {
  SHA256Update(&state_->context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

std::string Sha256Stream::Finish() {
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256Final(digest, &state_->context);
  return std::string(reinterpret_cast<const char*>(digest), sizeof digest);
}

}  // namespace halyard::conformance
