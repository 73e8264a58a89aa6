// SPDX-License-Identifier: Apache-2.0
//
// `halyard run`: continues a text with a language model.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "engine/sampling/sampler.h"
#include "engine/session/session.h"
#include "engine/tokenizer/stream_decoder.h"
#include "facts/bandwidth.h"
#include "nlohmann/json.hpp"
#include "ops/builtin.h"
#include "registry/plugin.h"

namespace halyard::cli {
namespace {

using engine::LoadedModel;
using engine::Session;
using engine::TokenId;

// The first Ctrl-C ends the text, a second one the program.
std::atomic<bool> g_interrupted{false};
void OnInterrupt(int) {
  g_interrupted.store(true);
  std::signal(SIGINT, SIG_DFL);
}

struct RunArgs {
  PortArgs port;
  std::vector<std::string> kernels;
  std::string model;
  std::string prompt;
  int64_t count = 128;
  uint32_t threads = 0;
  int64_t context = 0;
  std::string kv_type = "f16";
  bool no_pack = false;
  bool no_special = false;
  bool ignore_end = false;
  bool plan = false;
  engine::SamplingParams sampling;
};

/// What a model runs on. Members outlive those below them.
struct Stage {
  std::unique_ptr<hal::Device> device;
  std::unique_ptr<hal::Team> team;
  std::unique_ptr<registry::Registry> registry;
};

struct Timings {
  double load_s = 0;
  double prompt_s = 0;
  double decode_s = 0;
  int64_t prompt_tokens = 0;
  int64_t decoded = 0;  ///< steps of one token
};

double SecondsSince(uint64_t begin_ns) {
  return static_cast<double>(MonotonicNs() - begin_ns) * 1e-9;
}

absl::StatusOr<Stage> OpenStage(const RunArgs& args) {
  Stage stage;
  HY_ASSIGN_OR_RETURN(hal::Device device, OpenDevice(args.port));
  stage.device = std::make_unique<hal::Device>(std::move(device));
  hal::TeamRequest request;
  request.count = args.threads;
  HY_ASSIGN_OR_RETURN(hal::Team team, stage.device->CreateTeam(request));
  stage.team = std::make_unique<hal::Team>(std::move(team));
  registry::PluginOptions plugins;
  plugins.files = args.kernels;
  plugins.folders = registry::DefaultKernelFolders();
  plugins.port = &stage.device->port();
  HY_ASSIGN_OR_RETURN(stage.registry, registry::MakeRegistry(BuiltinKernelTable(), plugins));
  return stage;
}

absl::StatusOr<uint32_t> KvType(const std::string& name) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16, HY_TYPE_Q8_0}) {
    if (name == hy_type_name(type) || (name == "q8" && type == HY_TYPE_Q8_0)) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--kv-type ", name, ": there are f32, f16, bf16 and q8"));
}

/// Draws tokens until the text ends, and shows them.
class Generation {
 public:
  Generation(const LoadedModel& model, Session* session, engine::Sampler* sampler,
             const Output& output)
      : model_(model), session_(*session), sampler_(*sampler), output_(output) {}

  absl::Status Run(const std::vector<TokenId>& prompt, const RunArgs& args) {
    for (const TokenId id : prompt) sampler_.Accept(id, false);
    uint64_t begin = MonotonicNs();
    HY_ASSIGN_OR_RETURN(absl::Span<float> logits, session_.Feed(prompt));
    timings.prompt_s = SecondsSince(begin);
    timings.prompt_tokens = static_cast<int64_t>(prompt.size());
    begin = MonotonicNs();
    const int64_t room = session_.context() - session_.position();
    while (static_cast<int64_t>(ids.size()) < args.count && !g_interrupted.load()) {
      HY_ASSIGN_OR_RETURN(const TokenId id, sampler_.Sample(logits, session_.position()));
      if (model_.tokenizer().IsEnd(id) && !args.ignore_end) break;
      ids.push_back(id);
      sampler_.Accept(id, true);
      Show(decoder_.Add(model_.tokenizer().Piece(id)));
      if (static_cast<int64_t>(ids.size()) == args.count) break;
      if (static_cast<int64_t>(ids.size()) > room) {
        end = "the context is full";
        break;
      }
      HY_ASSIGN_OR_RETURN(logits, session_.Feed({id}));
      ++timings.decoded;
    }
    timings.decode_s = SecondsSince(begin);
    Show(decoder_.Finish());
    return absl::OkStatus();
  }

  std::vector<TokenId> ids;
  std::string text;
  std::string end;  ///< why it ended, if not as usual
  Timings timings;

 private:
  void Show(const std::string& piece) {
    text += piece;
    if (!output_.json) output_.Text(piece);
  }

  const LoadedModel& model_;
  Session& session_;
  engine::Sampler& sampler_;
  const Output& output_;
  engine::StreamDecoder decoder_;
};

// What the workers of this team can read; 0 where it cannot be measured.
double ReadRoof(const Stage& stage) {
  facts::BandwidthRequest request;
  request.max_threads = stage.team->size();
  request.per_node = false;
  request.runs = 3;
  request.bytes_per_thread = 96 << 20;
  const auto rows = facts::MeasureBandwidth(*stage.device, request);
  double best = 0;
  for (size_t i = 0; rows.ok() && i < rows->size(); ++i) {
    if ((*rows)[i].work == "read" && (*rows)[i].threads == stage.team->size())
      best = (*rows)[i].median_gb_per_s;
  }
  return best;
}

// Bytes that a step of one token reads, in the middle of the text.
double BytesPerStep(const LoadedModel& model, const Session& session, const Timings& timings) {
  const double mean =
      static_cast<double>(session.position()) - static_cast<double>(timings.decoded) / 2;
  return static_cast<double>(model.weights().bytes_per_token()) +
         mean * static_cast<double>(session.kv().bytes_per_token());
}

nlohmann::json Report(const LoadedModel& model, const Session& session, const Generation& made,
                      const Stage& stage) {
  const Timings& t = made.timings;
  const double roof = t.decoded > 0 ? ReadRoof(stage) : 0;
  const double rate = t.decode_s > 0 ? static_cast<double>(t.decoded) / t.decode_s : 0;
  const double achieved = rate * BytesPerStep(model, session, t) * 1e-9;
  std::vector<std::string> fallbacks;
  for (const registry::Kernel* kernel : stage.registry->kernels()) {
    if (kernel->failures() > 0 || kernel->quarantined()) fallbacks.emplace_back(kernel->id());
  }
  return {{"model", model.config().name},
          {"architecture", model.config().architecture},
          {"threads", stage.team->size()},
          {"context", session.context()},
          {"load_seconds", t.load_s},
          {"prompt_tokens", t.prompt_tokens},
          {"prompt_seconds", t.prompt_s},
          {"prompt_tokens_per_second",
           t.prompt_s > 0 ? static_cast<double>(t.prompt_tokens) / t.prompt_s : 0},
          {"generated_tokens", made.ids.size()},
          {"decode_seconds", t.decode_s},
          {"decode_tokens_per_second", rate},
          {"achieved_gb_per_s", achieved},
          {"read_roof_gb_per_s", roof},
          {"share_of_roof", roof > 0 ? achieved / roof : 0},
          {"weights_packed_bytes", model.weights().packed_bytes()},
          {"kv_bytes", session.kv().bytes()},
          {"barriers_per_step", session.forward().barriers()},
          {"quarantined_kernels", fallbacks},
          {"interrupted", g_interrupted.load()},
          {"end", made.end},
          {"ids", made.ids},
          {"text", made.text}};
}

void Tell(const nlohmann::json& report) {
  std::fputs(absl::StrFormat(
                 "\n%s: loaded in %.2f s; prompt of %d tokens in %.2f s (%.1f/s); %d tokens, "
                 "%.1f/s, reading %.1f GB/s",
                 report["model"].get<std::string>(), report["load_seconds"].get<double>(),
                 report["prompt_tokens"].get<int64_t>(), report["prompt_seconds"].get<double>(),
                 report["prompt_tokens_per_second"].get<double>(),
                 report["generated_tokens"].get<int64_t>(),
                 report["decode_tokens_per_second"].get<double>(),
                 report["achieved_gb_per_s"].get<double>())
                 .c_str(),
             stderr);
  if (report["read_roof_gb_per_s"].get<double>() > 0) {
    std::fputs(absl::StrFormat(", %.0f %% of the %.1f GB/s that %d threads can read",
                               100 * report["share_of_roof"].get<double>(),
                               report["read_roof_gb_per_s"].get<double>(),
                               report["threads"].get<int64_t>())
                   .c_str(),
               stderr);
  }
  std::fputs("\n", stderr);
  for (const auto& kernel : report["quarantined_kernels"])
    std::fprintf(stderr, "warning: %s failed; its work was done by another kernel\n",
                 kernel.get<std::string>().c_str());
  if (!report["end"].get<std::string>().empty())
    std::fprintf(stderr, "The text ends here: %s.\n", report["end"].get<std::string>().c_str());
}

absl::StatusOr<int> RunRun(const RunArgs& args, const Output& output) {
  HY_RETURN_IF_ERROR(engine::CheckSamplingParams(args.sampling));
  HY_ASSIGN_OR_RETURN(const Stage stage, OpenStage(args));
  engine::LoadOptions load;
  load.pack = !args.no_pack;
  const uint64_t begin = MonotonicNs();
  uint64_t told_ns = begin;
  load.on_progress = [&](uint64_t done, uint64_t total) {
    if (SecondsSince(told_ns) < 2) return;
    told_ns = MonotonicNs();
    const double share = static_cast<double>(done) / static_cast<double>(total);
    output.Progress(absl::StrFormat("loading: %.0f %%, %.0f s left", 100 * share,
                                    SecondsSince(begin) * (1 - share) / share));
  };
  HY_ASSIGN_OR_RETURN(const auto model,
                      LoadedModel::Load(args.model, stage.registry.get(), stage.team.get(), load));
  for (const std::string& warning : model->tokenizer().vocabulary().warnings)
    std::fprintf(stderr, "halyard: warning: %s\n", warning.c_str());
  engine::SessionOptions options;
  options.context = args.context;
  HY_ASSIGN_OR_RETURN(options.kv.type, KvType(args.kv_type));
  HY_ASSIGN_OR_RETURN(const auto session, Session::Create(model.get(), options));
  HY_ASSIGN_OR_RETURN(const std::vector<TokenId> prompt,
                      model->tokenizer().Encode(args.prompt, {true, !args.no_special}));
  if (prompt.empty())
    return absl::InvalidArgumentError(
        "the prompt is empty, and this model needs a token to begin with");
  HY_ASSIGN_OR_RETURN(const auto sampler,
                      engine::Sampler::Create(args.sampling, model->config().vocabulary,
                                              stage.registry.get(), stage.team.get()));
  Generation generation(*model, session.get(), sampler.get(), output);
  generation.timings.load_s = SecondsSince(begin);
  std::signal(SIGINT, OnInterrupt);
  HY_RETURN_IF_ERROR(generation.Run(prompt, args));
  if (args.plan) std::fprintf(stderr, "\n%s", session->forward().Describe().c_str());
  const nlohmann::json report = Report(*model, *session, generation, stage);
  Tell(report);
  output.Document(report);
  return kHolds;
}

void AddOptions(CLI::App* command, RunArgs* args) {
  command->add_option("--model", args->model, "GGUF file")->required();
  command->add_option("-p,--prompt", args->prompt, "Text to go on from")->required();
  command->add_option("-n,--tokens", args->count, "Tokens to generate, at most")
      ->check(Within(1, 1e9));
  command->add_option("--temperature", args->sampling.temperature, "0: always the likeliest token");
  command->add_option("--top-k", args->sampling.top_k, "Only the k likeliest tokens; 0: all");
  command->add_option("--top-p", args->sampling.top_p,
                      "Only the likeliest that make up this share");
  command->add_option("--min-p", args->sampling.min_p,
                      "Only those at least this likely, of the likeliest");
  command->add_option("--repetition-penalty", args->sampling.repetition_penalty, "1: none");
  command->add_option("--presence-penalty", args->sampling.presence_penalty, "-2 to 2; 0: none");
  command->add_option("--frequency-penalty", args->sampling.frequency_penalty, "-2 to 2; 0: none");
  command->add_option("--seed", args->sampling.seed, "Of draws: the same seed gives the same text");
  command->add_option("--threads", args->threads, "Workers; default the budget of the device");
  command->add_option("--context", args->context,
                      "Tokens of prompt and answer; default what the model knows, 4096 at most");
  command->add_option("--kv-type", args->kv_type,
                      "How keys and values are kept: f32, f16, bf16, q8");
  command->add_option("--kernels", args->kernels, "Plugin with kernels; can be given again")
      ->allow_extra_args(false);
  command->add_flag("--no-pack", args->no_pack, "Weights stay as the file has them");
  command->add_flag("--no-parse-special", args->no_special,
                    "Control tokens that are written in the prompt stay text");
  command->add_flag("--ignore-end", args->ignore_end, "Go on behind tokens that end a text");
  command->add_flag("--plan", args->plan, "Also print what one step runs");
  args->port.AddTo(*command);
}

}  // namespace

void AddRun(const Program& program) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "run", "Continue a text with a language model; the text alone goes to standard output");
  AddOptions(command, args.get());
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunRun(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
