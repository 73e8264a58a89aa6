// SPDX-License-Identifier: Apache-2.0
//
// Numbers that GGUF files use for types, and what they are here. The facts are those of the PyPI
// package gguf (constants.py).
#ifndef HALYARD_ENGINE_GGUF_GGUF_TYPES_H_
#define HALYARD_ENGINE_GGUF_GGUF_TYPES_H_

#include <cstdint>
#include <string>

namespace halyard::engine {

/// Types of metadata values; the numbers are the file's.
enum class GgufType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};
inline constexpr uint32_t kGgufTypeCount = 13;

/// "uint32", "string".
const char* GgufTypeName(GgufType type);
/// Bytes of a value; 0 for strings and arrays.
uint32_t GgufTypeBytes(GgufType type);

/// Facts of a tensor type by its number in files.
struct GgufTensorType {
  std::string name;    ///< "q4_k"; "type 99" for a number that is not known
  uint32_t block = 0;  ///< elements of a block; 0: not known
  uint32_t bytes = 0;  ///< of a block
  uint32_t type = 0;   ///< HY_TYPE_*; HY_TYPE_NONE if there is no format here for it
};
GgufTensorType GgufTensorTypeOf(uint32_t file_type);

/// The number in files of a HY_TYPE_*; UINT32_MAX if files have none.
uint32_t GgufNumberOf(uint32_t type);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_GGUF_GGUF_TYPES_H_
