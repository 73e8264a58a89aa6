// SPDX-License-Identifier: Apache-2.0
//
// `halyard run` continues a text with a language model, `halyard chat` talks with one.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "cli/generate.h"
#include "engine/tokenizer/chat.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using engine::TokenId;

struct RunArgs {
  GenerateArgs generate;
  std::string prompt;
  bool no_parse_special = false;
  bool plan = false;
};

struct ChatArgs {
  GenerateArgs generate;
  std::string system;
  std::string format;  ///< empty: recognised
};

// A model of a kind that is not known is input, not a lack of this machine.
int FailModel(const Output& output, const absl::Status& status) {
  return output.Fail(status, absl::IsUnimplemented(status) ? kWrongInput : CodeOf(status));
}

absl::StatusOr<int> RunRun(const RunArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const Stage stage, OpenStage(args.generate, output));
  HY_ASSIGN_OR_RETURN(const std::vector<TokenId> prompt,
                      stage.model->tokenizer().Encode(args.prompt, {true, !args.no_parse_special}));
  if (prompt.empty()) {
    return absl::InvalidArgumentError(
        "the prompt is empty, and this model needs a token to begin with");
  }
  HY_ASSIGN_OR_RETURN(const Generated made, Generate(stage, prompt, args.generate, output));
  if (args.plan) std::fprintf(stderr, "\n%s", stage.session->forward().Describe().c_str());
  nlohmann::json report = ReportOf(stage, made);
  report["interrupted"] = WasInterrupted();
  TellReport(report);
  output.Document(report);
  return kHolds;
}

absl::StatusOr<engine::ChatTemplate> TemplateFor(const ChatArgs& args, const Stage& stage) {
  engine::ChatTemplate found =
      engine::RecogniseChatTemplate(stage.model->tokenizer().vocabulary().chat_template);
  if (!args.format.empty()) {
    HY_ASSIGN_OR_RETURN(found.format, engine::ChatFormatOf(args.format));
    found.warning.clear();
  }
  if (!found.warning.empty()) std::fprintf(stderr, "halyard: warning: %s\n", found.warning.c_str());
  return found;
}

// An answer that was cut by its length: its last token was drawn and not fed.
std::vector<TokenId> UnfedOf(const Generated& made) {
  const bool all_fed = static_cast<int64_t>(made.ids.size()) <= made.timings.decoded;
  return all_fed || made.ids.empty() ? std::vector<TokenId>()
                                     : std::vector<TokenId>{made.ids.back()};
}

// What ends the answer before these parts.
std::vector<engine::ChatPart> WithEnd(const engine::ChatTemplate& format,
                                      std::vector<engine::ChatPart> parts, bool is_begin) {
  if (is_begin) return parts;
  const engine::ChatMessage nothing = {engine::ChatRole::kAssistant, ""};
  std::vector<engine::ChatPart> end = engine::RenderChat(format, {nothing}, false);
  // Of an empty answer, all but its opening.
  if (!end.empty()) parts.insert(parts.begin(), end.back());
  return parts;
}

absl::StatusOr<int> RunChat(const ChatArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const Stage stage, OpenStage(args.generate, output));
  HY_ASSIGN_OR_RETURN(const engine::ChatTemplate format, TemplateFor(args, stage));
  const bool terminal = isatty(STDIN_FILENO) != 0;
  if (terminal) std::fputs("An empty line ends. Ctrl-C ends an answer.\n", stderr);
  nlohmann::json turns = nlohmann::json::array();
  std::vector<engine::ChatMessage> fresh;
  if (!args.system.empty()) fresh.push_back({engine::ChatRole::kSystem, args.system});
  std::vector<TokenId> unfed;
  bool is_begin = true;
  for (std::string line;
       (terminal && std::fputs("> ", stderr) >= 0, std::getline(std::cin, line));) {
    if (line.empty()) break;
    fresh.push_back({engine::ChatRole::kUser, line});
    HY_ASSIGN_OR_RETURN(
        std::vector<TokenId> prompt,
        stage.model->tokenizer().EncodeChat(
            WithEnd(format, engine::RenderChat(format, fresh, is_begin), is_begin), is_begin));
    prompt.insert(prompt.begin(), unfed.begin(), unfed.end());
    HY_ASSIGN_OR_RETURN(const Generated made, Generate(stage, prompt, args.generate, output));
    output.Text("\n");
    turns.push_back({{"user", line}, {"assistant", made.text}, {"tokens", made.ids.size()}});
    WasInterrupted();
    // The last token of an answer, and its end, were not fed: they come before the next message.
    fresh.clear();
    unfed = UnfedOf(made);
    is_begin = false;
    if (stage.session->position() == stage.session->context()) {
      std::fputs("The context is full.\n", stderr);
      break;
    }
  }
  output.Document({{"format", engine::ChatFormatName(format.format)}, {"turns", turns}});
  return kHolds;
}

}  // namespace

void AddRun(const Program& program) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "run", "Continue a text with a language model; the text alone goes to standard output");
  command->add_option("-p,--prompt", args->prompt, "Text to go on from")->required();
  command->add_flag("--no-parse-special", args->no_parse_special,
                    "Control tokens that are written in the prompt stay text");
  command->add_flag("--plan", args->plan, "Also print what one step runs");
  args->generate.AddTo(*command);
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunRun(*args, *program.output);
    *program.exit_code = code.ok() ? *code : FailModel(*program.output, code.status());
  });
}

void AddChat(const Program& program) {
  auto args = std::make_shared<ChatArgs>();
  args->generate.count = 512;
  CLI::App* const command = program.app->add_subcommand(
      "chat", "Talk with a language model: each line of standard input is a message");
  command->add_option("--system-message", args->system, "Message of the system, before all others");
  command->add_option("--chat-template", args->format,
                      "chatml, llama2, llama3, zephyr, gemma or minicpm; default as the file says");
  args->generate.AddTo(*command);
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunChat(*args, *program.output);
    *program.exit_code = code.ok() ? *code : FailModel(*program.output, code.status());
  });
}

}  // namespace halyard::cli
