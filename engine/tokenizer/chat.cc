// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/chat.h"

#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace halyard::engine {
namespace {

constexpr const char* kNames[] = {"chatml", "llama2", "llama3", "zephyr", "gemma", "minicpm"};
constexpr char kSmolLmSystem[] =
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

class Renderer {
 public:
  explicit Renderer(std::vector<ChatPart>* out) : out_(*out) {}

  Renderer& Mark(absl::string_view text) { return Add(text, true); }
  Renderer& Text(absl::string_view text) { return Add(text, false); }

 private:
  Renderer& Add(absl::string_view text, bool trusted) {
    if (!text.empty()) out_.push_back({std::string(text), trusted});
    return *this;
  }
  std::vector<ChatPart>& out_;
};

const char* RoleName(ChatRole role) {
  switch (role) {
    case ChatRole::kSystem:
      return "system";
    case ChatRole::kUser:
      return "user";
    case ChatRole::kAssistant:
      return "assistant";
  }
  return "user";
}

void ChatMl(const ChatMessage& m, Renderer* out) {
  out->Mark(absl::StrCat("<|im_start|>", RoleName(m.role), "\n")).Text(m.text).Mark("<|im_end|>\n");
}

void Llama3(const ChatMessage& m, Renderer* out) {
  out->Mark(absl::StrCat("<|start_header_id|>", RoleName(m.role), "<|end_header_id|>\n\n"))
      .Text(m.text)
      .Mark("<|eot_id|>");
}

void Zephyr(const ChatMessage& m, Renderer* out) {
  out->Mark(absl::StrCat("<|", RoleName(m.role), "|>\n")).Text(m.text).Mark("</s>\n");
}

// No role of the system: it begins the first message of the user.
void Gemma(const ChatMessage& m, bool continues, Renderer* out) {
  if (!continues) {
    out->Mark(
        absl::StrCat("<start_of_turn>", m.role == ChatRole::kAssistant ? "model" : "user", "\n"));
  }
  out->Text(m.text);
  out->Mark(m.role == ChatRole::kSystem ? "\n\n" : "<end_of_turn>\n");
}

void Llama2(const ChatMessage& m, bool continues, Renderer* out) {
  switch (m.role) {
    case ChatRole::kSystem:
      out->Mark("[INST] <<SYS>>\n").Text(m.text).Mark("\n<</SYS>>\n\n");
      return;
    case ChatRole::kUser:
      out->Mark(continues ? "" : "[INST] ").Text(m.text).Mark(" [/INST]");
      return;
    case ChatRole::kAssistant:
      out->Mark(" ").Text(m.text).Mark("</s>");
  }
}

void MiniCpm(const ChatMessage& m, Renderer* out) {
  if (m.role == ChatRole::kUser) {
    out->Mark("<用户>").Text(m.text).Mark("<AI>");
  } else {
    out->Text(m.text);
  }
}

void Render(ChatFormat format, const ChatMessage& m, bool after_system, Renderer* out) {
  switch (format) {
    case ChatFormat::kChatMl:
      return ChatMl(m, out);
    case ChatFormat::kLlama2:
      return Llama2(m, after_system, out);
    case ChatFormat::kLlama3:
      return Llama3(m, out);
    case ChatFormat::kZephyr:
      return Zephyr(m, out);
    case ChatFormat::kGemma:
      return Gemma(m, after_system, out);
    case ChatFormat::kMiniCpm:
      return MiniCpm(m, out);
  }
}

// What makes a model answer.
const char* Opening(ChatFormat format) {
  switch (format) {
    case ChatFormat::kChatMl:
      return "<|im_start|>assistant\n";
    case ChatFormat::kLlama3:
      return "<|start_header_id|>assistant<|end_header_id|>\n\n";
    case ChatFormat::kZephyr:
      return "<|assistant|>\n";
    case ChatFormat::kGemma:
      return "<start_of_turn>model\n";
    case ChatFormat::kLlama2:
    case ChatFormat::kMiniCpm:
      return "";
  }
  return "";
}

}  // namespace

ChatTemplate RecogniseChatTemplate(absl::string_view text) {
  const struct {
    const char* word;
    ChatFormat format;
  } words[] = {
      {"<|im_start|>", ChatFormat::kChatMl},   {"<|start_header_id|>", ChatFormat::kLlama3},
      {"<start_of_turn>", ChatFormat::kGemma}, {"[INST]", ChatFormat::kLlama2},
      {"<|user|>", ChatFormat::kZephyr},       {"<用户>", ChatFormat::kMiniCpm}};
  ChatTemplate found;
  for (const auto& [word, format] : words) {
    if (!absl::StrContains(text, word)) continue;
    found.format = format;
    if (absl::StrContains(text, kSmolLmSystem)) found.default_system = kSmolLmSystem;
    return found;
  }
  found.warning =
      text.empty()
          ? "the model has no chat template; ChatML is used, which it may not know"
          : "the model's chat template is not known; ChatML is used, which it may not know";
  return found;
}

const char* ChatFormatName(ChatFormat format) { return kNames[static_cast<size_t>(format)]; }

absl::StatusOr<ChatFormat> ChatFormatOf(absl::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<ChatFormat>(i);
  }
  return absl::NotFoundError(
      absl::StrCat("there is no chat format '", name,
                   "'; there are: chatml, llama2, llama3, zephyr, gemma, minicpm"));
}

std::vector<ChatPart> RenderChat(const ChatTemplate& format, absl::Span<const ChatMessage> messages,
                                 bool is_begin) {
  std::vector<ChatPart> parts;
  Renderer out(&parts);
  const bool has_system = !messages.empty() && messages.front().role == ChatRole::kSystem;
  bool after_system = false;
  if (is_begin && !has_system && !format.default_system.empty()) {
    Render(format.format, {ChatRole::kSystem, format.default_system}, false, &out);
    after_system = true;
  }
  for (const ChatMessage& message : messages) {
    Render(format.format, message, after_system, &out);
    after_system = message.role == ChatRole::kSystem;
  }
  if (messages.empty() || messages.back().role != ChatRole::kAssistant)
    out.Mark(Opening(format.format));
  return parts;
}

}  // namespace halyard::engine
