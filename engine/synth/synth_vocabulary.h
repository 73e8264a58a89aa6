// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_ENGINE_SYNTH_SYNTH_VOCABULARY_H_
#define HALYARD_ENGINE_SYNTH_SYNTH_VOCABULARY_H_

#include <cstdint>
#include <vector>

#include "engine/gguf/gguf_writer.h"

namespace halyard::engine {

/// A byte-level BPE vocabulary of `size` tokens: bytes first; from 258 on a begin and an end; then merges
/// of two, and of three, bytes. With less than 256 tokens some bytes have none.
void AddSynthVocabulary(int64_t size, GgufWriter* out);

/// Turns elements of `element_bytes` from the host's byte order to that of files.
void ToLittleEndian(uint32_t element_bytes, std::vector<uint8_t>* inout);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_SYNTH_SYNTH_VOCABULARY_H_
