// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/stream_decoder.h"

#include <algorithm>

#include "engine/tokenizer/text_classes.h"

namespace halyard::engine {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd";

// Bytes of the sequence that `lead` begins; 0 if it begins none.
size_t LengthOf(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

// Whether more bytes can make a character of what is there.
bool MayBecomeOne(absl::string_view bytes) {
  if (bytes.size() >= LengthOf(static_cast<unsigned char>(bytes[0]))) return false;
  return std::all_of(bytes.begin() + 1, bytes.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; });
}

}  // namespace

std::string StreamDecoder::Add(absl::string_view bytes) {
  pending_.append(bytes.data(), bytes.size());
  std::string out;
  size_t at = 0;
  while (at < pending_.size()) {
    const absl::string_view rest = absl::string_view(pending_).substr(at);
    const uint32_t length = Utf8Length(rest);
    if (length == 0 && MayBecomeOne(rest)) break;
    if (length == 0) {
      out += kReplacement;
      ++at;
    } else {
      out.append(rest.data(), length);
      at += length;
    }
  }
  pending_.erase(0, at);
  return out;
}

std::string StreamDecoder::Finish() {
  const bool anything = !pending_.empty();
  pending_.clear();
  return anything ? kReplacement : "";
}

}  // namespace halyard::engine
