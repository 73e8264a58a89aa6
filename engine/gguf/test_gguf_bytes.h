// SPDX-License-Identifier: Apache-2.0
//
// GGUF files made byte by byte, so that they can be wrong in any way.
#ifndef HALYARD_ENGINE_GGUF_TEST_GGUF_BYTES_H_
#define HALYARD_ENGINE_GGUF_TEST_GGUF_BYTES_H_

#include <bit>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/gguf/gguf_types.h"

namespace halyard::engine {

class GgufBytes {
 public:
  explicit GgufBytes(bool big_endian = false) : big_endian_(big_endian) {}

  GgufBytes& Put(uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i) {
      const uint32_t place = big_endian_ ? bytes - 1 - i : i;
      text_.push_back(static_cast<char>(value >> (8 * place)));
    }
    return *this;
  }
  GgufBytes& Raw(absl::string_view bytes) {
    text_.append(bytes.data(), bytes.size());
    return *this;
  }
  GgufBytes& Header(uint64_t tensors, uint64_t entries, uint32_t version = 3) {
    return Raw("GGUF").Put(version, 4).Put(tensors, 8).Put(entries, 8);
  }
  GgufBytes& String(absl::string_view text) { return Put(text.size(), 8).Raw(text); }
  GgufBytes& Key(absl::string_view key, GgufType type) {
    return String(key).Put(static_cast<uint32_t>(type), 4);
  }
  GgufBytes& Uint32(absl::string_view key, uint32_t value) {
    return Key(key, GgufType::kUint32).Put(value, 4);
  }
  GgufBytes& Array(absl::string_view key, GgufType element, uint64_t count) {
    return Key(key, GgufType::kArray).Put(static_cast<uint32_t>(element), 4).Put(count, 8);
  }
  /// Shape as files have it: the fastest axis first.
  GgufBytes& Tensor(absl::string_view name, absl::Span<const uint64_t> shape, uint32_t type,
                    uint64_t offset) {
    String(name).Put(shape.size(), 4);
    for (const uint64_t size : shape) Put(size, 8);
    return Put(type, 4).Put(offset, 8);
  }
  GgufBytes& Pad(uint64_t alignment = 32) {
    while (text_.size() % alignment != 0) text_.push_back('\0');
    return *this;
  }
  GgufBytes& Zeros(size_t count) {
    text_.append(count, '\0');
    return *this;
  }
  const std::string& text() const { return text_; }
  absl::Span<const uint8_t> span() const {
    return {reinterpret_cast<const uint8_t*>(text_.data()), text_.size()};
  }

 private:
  const bool big_endian_;
  std::string text_;
};

/// A small whole file: five keys of different types and two tensors.
inline GgufBytes SmallGguf(bool big_endian = false) {
  GgufBytes bytes(big_endian);
  bytes.Header(2, 5).Key("general.architecture", GgufType::kString).String("llama");
  bytes.Uint32("llama.block_count", 2);
  bytes.Key("eps", GgufType::kFloat32).Put(std::bit_cast<uint32_t>(0.5F), 4);
  bytes.Array("tokens", GgufType::kString, 3).String("a").String("").String("bcd");
  bytes.Array("types", GgufType::kInt32, 2).Put(0xffffffff, 4).Put(7, 4);
  bytes.Tensor("w", {64, 2}, 8, 0).Tensor("norm", {4}, 0, 160).Pad();
  return bytes.Zeros(136).Pad(32).Zeros(16);
}

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_GGUF_TEST_GGUF_BYTES_H_
