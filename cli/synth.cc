// SPDX-License-Identifier: Apache-2.0
//
// `halyard synth`: a model file of any shape, with drawn weights.
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "engine/synth/synth.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

struct SynthArgs {
  engine::SynthSpec given;
  std::string preset;
  std::string type = "q8_0";
  std::string out;
};

absl::StatusOr<uint32_t> TypeOf(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (uint32_t type = 1; type < HY_TYPE_COUNT; ++type) {
    const bool fits = hy_type_is_float(type) != 0 || hy_type_is_weights(type) != 0;
    if (fits && lower == hy_type_name(type)) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--type ", name, ": there is no such type of weights"));
}

// A preset gives what the command line does not.
absl::StatusOr<engine::SynthSpec> SpecOf(const SynthArgs& args, const CLI::App& command) {
  engine::SynthSpec spec = args.given;
  if (!args.preset.empty()) {
    HY_ASSIGN_OR_RETURN(engine::SynthSpec preset, engine::SynthPreset(args.preset));
    const auto take = [&](const char* option, auto member) {
      if (command.count(option) == 0) spec.*member = preset.*member;
    };
    take("--arch", &engine::SynthSpec::architecture);
    take("--layers", &engine::SynthSpec::layers);
    take("--width", &engine::SynthSpec::width);
    take("--heads", &engine::SynthSpec::heads);
    take("--kv-heads", &engine::SynthSpec::kv_heads);
    take("--head-size", &engine::SynthSpec::head_size);
    take("--ffn", &engine::SynthSpec::ffn);
    take("--vocab", &engine::SynthSpec::vocabulary);
    take("--context", &engine::SynthSpec::context);
    take("--rope-base", &engine::SynthSpec::rope_base);
    take("--tied", &engine::SynthSpec::tied);
  }
  HY_ASSIGN_OR_RETURN(spec.type, TypeOf(args.type));
  return spec;
}

absl::StatusOr<int> RunSynth(const SynthArgs& args, const CLI::App& command, const Output& output) {
  HY_ASSIGN_OR_RETURN(const engine::SynthSpec spec, SpecOf(args, command));
  const uint64_t begin = MonotonicNs();
  uint64_t told = begin;
  const auto on_progress = [&](uint64_t done, uint64_t total) {
    const double seconds = static_cast<double>(MonotonicNs() - begin) * 1e-9;
    if (static_cast<double>(MonotonicNs() - told) * 1e-9 < 2) return;
    told = MonotonicNs();
    const double share = static_cast<double>(done) / static_cast<double>(total);
    output.Progress(absl::StrFormat("writing: %.0f %%, %.0f s left", 100 * share,
                                    seconds * (1 - share) / share));
  };
  HY_ASSIGN_OR_RETURN(const engine::SynthResult made,
                      engine::WriteSynthModel(spec, args.out, on_progress));
  output.EndProgress();
  output.Text(absl::StrFormat("%s: %s, %.4g M parameters, %s\n", args.out, spec.architecture,
                              static_cast<double>(made.parameters) / 1e6, HumanBytes(made.bytes)));
  if (!made.fallbacks.empty()) {
    output.Text(absl::StrCat(made.fallbacks.size(),
                             " matrices have rows that are no whole blocks of ", args.type,
                             ", such as ", made.fallbacks.front(), "\n"));
  }
  output.Document({{"path", args.out},
                   {"architecture", spec.architecture},
                   {"parameters", made.parameters},
                   {"bytes", made.bytes},
                   {"fallbacks", made.fallbacks}});
  return kHolds;
}

}  // namespace

void AddSynth(const Program& program) {
  auto args = std::make_shared<SynthArgs>();
  engine::SynthSpec& spec = args->given;
  CLI::App* const command = program.app->add_subcommand(
      "synth", "Write a model file of any shape, with drawn weights: for tests and measuring");
  command->add_option(
      "--preset", args->preset,
      "Shape of a real model: smollm2-135m, smollm2-360m, qwen3-0.6b, llama-3.2-1b, llama-3-8b");
  command->add_option("--arch", spec.architecture,
                      "llama, qwen2, qwen3, smollm3, minicpm or gemma3");
  command->add_option("--layers", spec.layers, "Blocks");
  command->add_option("--width", spec.width, "Elements of a row between blocks");
  command->add_option("--heads", spec.heads, "Heads of queries");
  command->add_option("--kv-heads", spec.kv_heads, "Heads of keys and values");
  command->add_option("--head-size", spec.head_size, "Elements of a head; default width / heads");
  command->add_option("--ffn", spec.ffn, "Elements between the products of the feed-forward part");
  command->add_option("--vocab", spec.vocabulary, "Tokens");
  command->add_option("--context", spec.context, "Tokens that the model claims to know");
  command->add_option("--rope-base", spec.rope_base, "Base of the angles");
  command->add_option("--window", spec.window, "gemma3: keys that most layers see");
  command->add_flag("--tied", spec.tied, "The head is the embedding");
  command->add_option("--type", args->type, "Of the matrices: f32, f16, bf16, q8_0, q4_k, ...");
  command->add_option("--seed", spec.seed,
                      "Of the draws: the same seed gives the same file everywhere");
  command->add_option("--vocab-from", spec.vocabulary_from, "GGUF file whose tokenizer is copied");
  command->add_option("--out", args->out, "File to write")->required();
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, command, program] {
    const absl::StatusOr<int> code = RunSynth(*args, *command, *program.output);
    if (code.ok() || !absl::IsUnimplemented(code.status())) {
      *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
    } else {
      *program.exit_code = program.output->Fail(code.status(), kWrongInput);
    }
  });
}

}  // namespace halyard::cli
