// SPDX-License-Identifier: Apache-2.0
//
// What `run` and `chat` share: a model on a stage, and text that comes token by token.
#ifndef HALYARD_CLI_GENERATE_H_
#define HALYARD_CLI_GENERATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/command.h"
#include "engine/sampling/sampler.h"
#include "engine/session/session.h"
#include "engine/tokenizer/stream_decoder.h"
#include "nlohmann/json_fwd.hpp"
#include "registry/registry.h"

namespace halyard::cli {

struct GenerateArgs {
  PortArgs port;
  std::vector<std::string> kernels;
  std::string model;
  int64_t count = 128;
  uint32_t threads = 0;
  int64_t context = 0;
  std::string kv_type = "f16";
  bool no_pack = false;
  bool ignore_end = false;
  engine::SamplingParams sampling;

  void AddTo(CLI::App& app);
};

/// A model, and what it runs on.
struct Stage {
  std::unique_ptr<hal::Device> device;
  std::unique_ptr<hal::Team> team;
  std::unique_ptr<registry::Registry> registry;
  std::unique_ptr<engine::LoadedModel> model;
  std::unique_ptr<engine::Session> session;
  std::unique_ptr<engine::Sampler> sampler;
  double load_s = 0;
};

/// Loads, with progress and the warnings of the vocabulary on standard error.
absl::StatusOr<Stage> OpenStage(const GenerateArgs& args, const Output& output);

struct Timings {
  double prompt_s = 0;
  double decode_s = 0;
  int64_t prompt_tokens = 0;
  int64_t decoded = 0;  ///< steps of one token
};

/// Tokens drawn until the text ends, shown as they come.
struct Generated {
  std::vector<engine::TokenId> ids;
  std::string text;
  std::string end;  ///< why it ended, if not as usual
  Timings timings;
};

/// Feeds the prompt and draws. The first Ctrl-C ends the text, a second one the program.
absl::StatusOr<Generated> Generate(const Stage& stage, const std::vector<engine::TokenId>& prompt,
                                   const GenerateArgs& args, const Output& output);
/// Whether the last text was ended by Ctrl-C; forgets it.
bool WasInterrupted();

/// Figures of a text, for people and machines. Measures what the team can read.
nlohmann::json ReportOf(const Stage& stage, const Generated& made);
/// The same as a line on standard error.
void TellReport(const nlohmann::json& report);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_GENERATE_H_
