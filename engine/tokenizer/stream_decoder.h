// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_ENGINE_TOKENIZER_STREAM_DECODER_H_
#define HALYARD_ENGINE_TOKENIZER_STREAM_DECODER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace halyard::engine {

/// Text of tokens as they come: a character whose bytes are spread over tokens is given whole. Bytes that
/// never become one are given as U+FFFD, so that what comes out is always UTF-8.
class StreamDecoder {
 public:
  /// What can be shown now that `bytes` are there.
  std::string Add(absl::string_view bytes);
  /// What is left at the end.
  std::string Finish();

 private:
  std::string pending_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_STREAM_DECODER_H_
