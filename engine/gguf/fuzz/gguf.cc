// SPDX-License-Identifier: Apache-2.0
//
// Whatever is accepted as a file lies within its bytes: each value and each tensor is read.
#include <cstddef>
#include <cstdint>

#include "engine/gguf/gguf.h"
#include "engine/model/config.h"
#include "engine/tokenizer/tokenizer.h"

namespace {

using halyard::engine::GgufEntry;
using halyard::engine::GgufFile;

// Kept, so that reads are not left out.
volatile uint64_t g_sum = 0;

void ReadValue(const GgufFile& file, const GgufEntry& entry) {
  if (const auto value = file.Int(entry.key); value.ok())
    g_sum = g_sum + static_cast<uint64_t>(*value);
  if (const auto value = file.String(entry.key); value.ok()) {
    for (const char c : *value) g_sum = g_sum + static_cast<uint8_t>(c);
  }
  if (const auto values = file.Strings(entry.key); values.ok()) {
    for (const auto& value : *values) g_sum = g_sum + value.size();
  }
  if (const auto values = file.Ints(entry.key); values.ok()) g_sum = g_sum + values->size();
  if (const auto values = file.Floats(entry.key); values.ok()) g_sum = g_sum + values->size();
  if (const auto values = file.Bools(entry.key); values.ok()) g_sum = g_sum + values->size();
  (void)file.Float(entry.key);
  (void)file.Bool(entry.key);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = GgufFile::Parse({data, size});
  if (!file.ok()) return 0;
  for (const GgufEntry& entry : file->entries()) ReadValue(*file, entry);
  for (const auto& tensor : file->tensors()) {
    const auto bytes = file->BytesOf(tensor);
    if (!bytes.empty()) g_sum = g_sum + bytes.front() + bytes.back();
    if (tensor.elements() <= 0) __builtin_trap();
  }
  (void)halyard::engine::ReadModelConfig(*file);
  auto vocabulary = halyard::engine::VocabularyFromGguf(*file);
  if (!vocabulary.ok()) return 0;
  const auto tokenizer = halyard::engine::Tokenizer::Create(*std::move(vocabulary));
  if (!tokenizer.ok()) return 0;
  const auto ids = (*tokenizer)->Encode("It's 12 \xe4\xbd\xa0 <s>\xff", {true, true});
  if (ids.ok() && !(*tokenizer)->Decode(*ids, true).ok()) __builtin_trap();
  return 0;
}
