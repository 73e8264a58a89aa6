// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/golden_pack.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "conformance/bundle/sha256.h"
#include "conformance/golden/golden_bytes.h"

namespace halyard::conformance {
namespace {

// Magic, version of the format, length of meta, count of entries; meta; index; entries; digest.
constexpr absl::string_view kMagic = "HYGOLDEN";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 8 + 4 + 4 + 4;
constexpr size_t kIndexBytes = sizeof(GoldenKey) + 8 + 4 + 4;  // key, offset, compressed, size
constexpr size_t kDigestBytes = 32;

std::string DigestOf(absl::string_view bytes) {
  Sha256Stream hash;
  hash.Add(bytes);
  return hash.Finish();
}

absl::Status Refuse(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "; write one with `halyard conform golden --out FILE`"));
}

}  // namespace

std::string WriteGoldenPack(const GoldenMeta& meta, const GoldenEntries& entries) {
  std::string text;
  for (const auto& [name, value] : meta) absl::StrAppend(&text, name, "=", value, "\n");
  std::string out(kMagic);
  PutInteger(kVersion, 4, &out);
  PutInteger(text.size(), 4, &out);
  PutInteger(entries.size(), 4, &out);
  out += text;
  uint64_t offset = 0;
  for (const auto& [key, entry] : entries) {
    out.append(key.begin(), key.end());
    PutInteger(offset, 8, &out);
    PutInteger(entry.compressed.size(), 4, &out);
    PutInteger(entry.size, 4, &out);
    offset += entry.compressed.size();
  }
  for (const auto& [key, entry] : entries) out += entry.compressed;
  out += DigestOf(out);
  return out;
}

absl::StatusOr<std::unique_ptr<const GoldenPack>> GoldenPack::Parse(std::string bytes) {
  std::unique_ptr<GoldenPack> pack(new GoldenPack);
  pack->bytes_ = std::move(bytes);
  if (absl::Status status = pack->Read(); !status.ok()) return status;
  return pack;
}

absl::StatusOr<std::unique_ptr<const GoldenPack>> GoldenPack::Open(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  if (file) bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the golden pack ", path, ": ", std::strerror(errno)));
  }
  absl::StatusOr<std::unique_ptr<const GoldenPack>> pack = Parse(std::move(bytes));
  if (pack.ok()) return pack;
  return absl::Status(pack.status().code(), absl::StrCat(path, ": ", pack.status().message()));
}

absl::Status GoldenPack::Read() {
  if (!absl::StartsWith(bytes_, kMagic)) return Refuse("this is no golden pack");
  if (bytes_.size() < kHeaderBytes + kDigestBytes) return Refuse("the golden pack is cut");
  const absl::string_view body(bytes_.data(), bytes_.size() - kDigestBytes);
  ByteReader reader(body);
  reader.Take(kMagic.size());
  const uint32_t version = reader.Word();
  if (version != kVersion) {
    return Refuse(absl::StrCat("the golden pack has version ", version,
                               " of its format, and this program reads version ", kVersion));
  }
  const std::string digest = DigestOf(body);
  if (digest != absl::string_view(bytes_).substr(body.size())) {
    return Refuse("the golden pack is cut or damaged: its digest is another one");
  }
  digest_ = absl::BytesToHexString(digest);
  const uint32_t meta_bytes = reader.Word();
  count_ = reader.Word();
  for (const absl::string_view line :
       absl::StrSplit(reader.Take(meta_bytes), '\n', absl::SkipEmpty())) {
    meta_.push_back(absl::StrSplit(line, absl::MaxSplits('=', 1)));
  }
  index_ = kHeaderBytes + meta_bytes;
  reader.Take(uint64_t{kIndexBytes} * count_);
  if (!reader.ok()) return Refuse("the golden pack has lengths that do not fit");
  data_ = index_ + kIndexBytes * count_;
  return CheckIndex();
}

absl::Status GoldenPack::CheckIndex() const {
  const uint64_t room = bytes_.size() - kDigestBytes - data_;
  for (size_t i = 0; i < count_; ++i) {
    const Place place = PlaceAt(i);
    if (place.offset > room || place.compressed > room - place.offset) {
      return Refuse("the golden pack has an entry that ends behind it");
    }
    if (i > 0 && !(KeyAt(i - 1) < KeyAt(i))) return Refuse("the golden pack is not sorted");
  }
  return absl::OkStatus();
}

absl::string_view GoldenPack::IndexEntry(size_t number) const {
  return absl::string_view(bytes_).substr(index_ + number * kIndexBytes, kIndexBytes);
}

GoldenKey GoldenPack::KeyAt(size_t number) const {
  GoldenKey key;
  std::copy_n(IndexEntry(number).begin(), key.size(), key.begin());
  return key;
}

GoldenPack::Place GoldenPack::PlaceAt(size_t number) const {
  ByteReader reader(IndexEntry(number));
  reader.Take(sizeof(GoldenKey));
  Place place;
  place.offset = reader.Integer(8);
  place.compressed = reader.Word();
  place.size = reader.Word();
  return place;
}

absl::StatusOr<std::vector<GoldenExpectation>> GoldenPack::Find(const GoldenKey& key) const {
  size_t first = 0;
  size_t last = count_;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (KeyAt(middle) < key) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == count_ || KeyAt(first) != key) return std::vector<GoldenExpectation>();
  const Place place = PlaceAt(first);
  const absl::string_view compressed =
      absl::string_view(bytes_).substr(data_ + static_cast<size_t>(place.offset), place.compressed);
  absl::StatusOr<std::string> entry = DecompressEntry(compressed, place.size);
  if (!entry.ok()) return entry.status();
  return DecodeExpectations(*entry);
}

std::string GoldenPack::Meta(absl::string_view name) const {
  for (const auto& [one, value] : meta_) {
    if (one == name) return value;
  }
  return "";
}

}  // namespace halyard::conformance
