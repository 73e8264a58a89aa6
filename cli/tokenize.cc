// SPDX-License-Identifier: Apache-2.0
//
// `halyard tokenize`: the tokens of texts, or the texts of tokens.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "engine/gguf/gguf_model_file.h"
#include "engine/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using engine::TokenId;
using engine::Tokenizer;

struct TokenizeArgs {
  std::string model;
  std::string text;
  bool has_text = false;
  bool no_add_special = false;
  bool no_parse_special = false;
  bool decode = false;
};

absl::StatusOr<std::unique_ptr<Tokenizer>> OpenTokenizer(const std::string& path) {
  HY_ASSIGN_OR_RETURN(const auto file, engine::GgufModelFile::Open(path));
  absl::StatusOr<engine::Vocabulary> vocabulary = engine::VocabularyFromGguf(file->head());
  if (!vocabulary.ok()) {
    return absl::Status(vocabulary.status().code(),
                        absl::StrCat(path, ": ", vocabulary.status().message()));
  }
  return Tokenizer::Create(*std::move(vocabulary));
}

std::vector<std::string> TextsOf(const TokenizeArgs& args) {
  if (args.has_text) return {args.text};
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  return lines;
}

absl::StatusOr<std::vector<TokenId>> ParseIds(const std::string& text) {
  std::vector<TokenId> ids;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" ,\t"), absl::SkipEmpty())) {
    ids.emplace_back();
    if (!absl::SimpleAtoi(word, &ids.back())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--decode: '", word, "' is no token; write their numbers with blanks between"));
    }
  }
  return ids;
}

nlohmann::json Row(const Tokenizer& tokenizer, const std::string& text,
                   const std::vector<TokenId>& ids) {
  nlohmann::json pieces = nlohmann::json::array();
  for (const TokenId id : ids) pieces.push_back(tokenizer.Piece(id, true));
  return {{"text", text}, {"ids", ids}, {"pieces", std::move(pieces)}};
}

// What encoding put before and behind the text is no part of it.
std::vector<TokenId> WithoutAdded(const engine::Vocabulary& vocabulary, std::vector<TokenId> ids) {
  if (vocabulary.add_bos && !ids.empty() && ids.front() == vocabulary.bos) ids.erase(ids.begin());
  if (vocabulary.add_eos && !ids.empty() && ids.back() == vocabulary.eos) ids.pop_back();
  return ids;
}

absl::StatusOr<int> RunTokenize(const TokenizeArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, OpenTokenizer(args.model));
  for (const std::string& warning : tokenizer->vocabulary().warnings)
    std::cerr << "halyard: warning: " << warning << "\n";
  const engine::EncodeOptions options = {!args.no_add_special, !args.no_parse_special};
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& text : TextsOf(args)) {
    if (args.decode) {
      HY_ASSIGN_OR_RETURN(const std::vector<TokenId> ids, ParseIds(text));
      const std::vector<TokenId> own =
          args.no_add_special ? ids : WithoutAdded(tokenizer->vocabulary(), ids);
      HY_ASSIGN_OR_RETURN(const std::string decoded,
                          tokenizer->Decode(own, !args.no_parse_special));
      output.Text(decoded + "\n");
      rows.push_back(Row(*tokenizer, decoded, ids));
      continue;
    }
    HY_ASSIGN_OR_RETURN(const std::vector<TokenId> ids, tokenizer->Encode(text, options));
    output.Text(absl::StrJoin(ids, " ") + "\n");
    rows.push_back(Row(*tokenizer, text, ids));
  }
  output.Document({{"texts", std::move(rows)}, {"warnings", tokenizer->vocabulary().warnings}});
  return kHolds;
}

}  // namespace

void AddTokenize(const Program& program) {
  auto args = std::make_shared<TokenizeArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "tokenize", "The tokens of a text, or of each line of standard input, a line each");
  command->add_option("--model", args->model, "GGUF file whose vocabulary is used")->required();
  CLI::Option* const text =
      command->add_option("--text", args->text, "The text; default the lines of standard input");
  command->add_flag("--no-add-special", args->no_add_special,
                    "Without the tokens that the model wants at begin and end");
  command->add_flag("--no-parse-special", args->no_parse_special,
                    "Control tokens that are written in the text stay text, as for text of users");
  command->add_flag("--decode", args->decode, "Back: numbers of tokens to text");
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, text, program] {
    args->has_text = text->count() != 0;
    const absl::StatusOr<int> code = RunTokenize(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status(), kWrongInput);
  });
}

}  // namespace halyard::cli
