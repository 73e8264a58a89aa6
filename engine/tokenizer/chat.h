// SPDX-License-Identifier: Apache-2.0
//
// Conversations as the text that a model was trained on. Templates in files are programs (Jinja); here a
// family is recognised by the words of its template, and written by a renderer of our own.
#ifndef HALYARD_ENGINE_TOKENIZER_CHAT_H_
#define HALYARD_ENGINE_TOKENIZER_CHAT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace halyard::engine {

enum class ChatFormat { kChatMl, kLlama2, kLlama3, kZephyr, kGemma, kMiniCpm };

struct ChatTemplate {
  ChatFormat format = ChatFormat::kChatMl;
  std::string default_system;  ///< what is put before a conversation without a system message
  std::string warning;         ///< empty, or why the format is a guess
};

/// Recognises the format of a template. An unknown or absent one is ChatML, with a warning.
ChatTemplate RecogniseChatTemplate(absl::string_view text);

/// "chatml", "llama2", "llama3", "zephyr", "gemma", "minicpm".
const char* ChatFormatName(ChatFormat format);
/// Errors   NOT_FOUND: another name, with those that there are.
absl::StatusOr<ChatFormat> ChatFormatOf(absl::string_view name);

enum class ChatRole { kSystem, kUser, kAssistant };

struct ChatMessage {
  ChatRole role = ChatRole::kUser;
  std::string text;
};

/// A part of what is to be tokenized. Control tokens are made of trusted parts alone: the others were
/// written by users or models.
struct ChatPart {
  std::string text;
  bool trusted = false;
};

/// The parts of `messages`. `is_begin`: nothing is before them, so that a default system message may be
/// added. Ends with what makes the model answer if the last message is not its own.
std::vector<ChatPart> RenderChat(const ChatTemplate& format, absl::Span<const ChatMessage> messages,
                                 bool is_begin);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_CHAT_H_
