// SPDX-License-Identifier: Apache-2.0
//
// Golden packs: what references gave, computed once and kept in a file, for runs where references are
// slow. docs/conformance.md has the format.
#ifndef HALYARD_CONFORMANCE_GOLDEN_GOLDEN_PACK_H_
#define HALYARD_CONFORMANCE_GOLDEN_GOLDEN_PACK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "conformance/golden/golden_codec.h"
#include "conformance/golden/golden_key.h"

namespace halyard::conformance {

/// Who wrote a pack and of what: names and values without line breaks.
using GoldenMeta = std::vector<std::pair<std::string, std::string>>;

/// An entry as a file has it.
struct GoldenEntry {
  uint32_t size = 0;       ///< of what was compressed
  std::string compressed;  ///< CompressEntry(EncodeExpectations(...))
};
using GoldenEntries = std::map<GoldenKey, GoldenEntry>;

/// The bytes of a pack; the same for the same entries and meta.
std::string WriteGoldenPack(const GoldenMeta& meta, const GoldenEntries& entries);

/// A pack in memory, checked as a whole. Threads: any, after Parse. Children of a process share it.
class GoldenPack {
 public:
  /// Takes bytes that may be anything.
  /// Errors   INVALID_ARGUMENT: no pack, one of another version of the format, cut, or damaged.
  static absl::StatusOr<std::unique_ptr<const GoldenPack>> Parse(std::string bytes);
  /// Errors   those of Parse, with the path; NOT_FOUND: the file cannot be read.
  static absl::StatusOr<std::unique_ptr<const GoldenPack>> Open(const std::string& path);

  /// The expectations of the args that have this key; none if the pack has no entry for them.
  /// Errors   INVALID_ARGUMENT: the entry is damaged, although the digest holds.
  absl::StatusOr<std::vector<GoldenExpectation>> Find(const GoldenKey& key) const;

  /// SHA-256 of all bytes before it, which ends the file, as hex digits.
  const std::string& digest() const { return digest_; }
  /// Empty if there is none of that name.
  std::string Meta(absl::string_view name) const;
  size_t size() const { return count_; }

 private:
  struct Place {
    uint64_t offset = 0;
    uint32_t compressed = 0;
    uint32_t size = 0;
  };

  GoldenPack() = default;
  absl::Status Read();
  absl::Status CheckIndex() const;
  GoldenKey KeyAt(size_t number) const;
  Place PlaceAt(size_t number) const;
  absl::string_view IndexEntry(size_t number) const;

  std::string bytes_;
  std::string digest_;
  GoldenMeta meta_;
  size_t count_ = 0;
  size_t index_ = 0;  // offset
  size_t data_ = 0;   // offset of the first entry
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_GOLDEN_PACK_H_
