// SPDX-License-Identifier: Apache-2.0
#include "cli/generate.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "facts/bandwidth.h"
#include "nlohmann/json.hpp"
#include "ops/builtin.h"
#include "registry/plugin.h"

namespace halyard::cli {
namespace {

using engine::LoadedModel;
using engine::Session;
using engine::TokenId;

std::atomic<bool> g_interrupted{false};
void OnInterrupt(int) {
  g_interrupted.store(true);
  std::signal(SIGINT, SIG_DFL);
}

double SecondsSince(uint64_t begin_ns) {
  return static_cast<double>(MonotonicNs() - begin_ns) * 1e-9;
}

absl::StatusOr<uint32_t> KvType(const std::string& name) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16, HY_TYPE_Q8_0}) {
    if (name == hy_type_name(type) || (name == "q8" && type == HY_TYPE_Q8_0)) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--kv-type ", name, ": there are f32, f16, bf16 and q8"));
}

absl::Status OpenMachine(const GenerateArgs& args, Stage* out) {
  HY_ASSIGN_OR_RETURN(hal::Device device, OpenDevice(args.port));
  out->device = std::make_unique<hal::Device>(std::move(device));
  hal::TeamRequest request;
  request.count = args.threads;
  HY_ASSIGN_OR_RETURN(hal::Team team, out->device->CreateTeam(request));
  out->team = std::make_unique<hal::Team>(std::move(team));
  registry::PluginOptions plugins;
  plugins.files = args.kernels;
  plugins.folders = registry::DefaultKernelFolders();
  plugins.port = &out->device->port();
  HY_ASSIGN_OR_RETURN(out->registry, registry::MakeRegistry(BuiltinKernelTable(), plugins));
  return absl::OkStatus();
}

absl::Status LoadModel(const GenerateArgs& args, const Output& output, Stage* out) {
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
  HY_ASSIGN_OR_RETURN(out->model,
                      LoadedModel::Load(args.model, out->registry.get(), out->team.get(), load));
  for (const std::string& warning : out->model->tokenizer().vocabulary().warnings)
    std::fprintf(stderr, "halyard: warning: %s\n", warning.c_str());
  out->load_s = SecondsSince(begin);
  return absl::OkStatus();
}

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
double BytesPerStep(const Stage& stage, const Timings& timings) {
  const double mean =
      static_cast<double>(stage.session->position()) - static_cast<double>(timings.decoded) / 2;
  return static_cast<double>(stage.model->weights().bytes_per_token()) +
         mean * static_cast<double>(stage.session->kv().bytes_per_token());
}

double Rate(int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

}  // namespace

void GenerateArgs::AddTo(CLI::App& app) {
  app.add_option("--model", model, "GGUF file")->required();
  app.add_option("-n,--tokens", count, "Tokens to generate, at most")->check(Within(1, 1e9));
  app.add_option("--temperature", sampling.temperature, "0: always the likeliest token");
  app.add_option("--top-k", sampling.top_k, "Only the k likeliest tokens; 0: all");
  app.add_option("--top-p", sampling.top_p, "Only the likeliest that make up this share");
  app.add_option("--min-p", sampling.min_p, "Only those at least this likely, of the likeliest");
  app.add_option("--repetition-penalty", sampling.repetition_penalty, "1: none");
  app.add_option("--presence-penalty", sampling.presence_penalty, "-2 to 2; 0: none");
  app.add_option("--frequency-penalty", sampling.frequency_penalty, "-2 to 2; 0: none");
  app.add_option("--seed", sampling.seed, "Of draws: the same seed gives the same text");
  app.add_option("--threads", threads, "Workers; default the budget of the device");
  app.add_option("--context", context,
                 "Tokens of prompt and answer; default what the model knows, 4096 at most");
  app.add_option("--kv-type", kv_type, "How keys and values are kept: f32, f16, bf16, q8");
  app.add_option("--kernels", kernels, "Plugin with kernels; can be given again")
      ->allow_extra_args(false);
  app.add_flag("--no-pack", no_pack, "Weights stay as the file has them");
  app.add_flag("--ignore-end", ignore_end, "Go on behind tokens that end a text");
  port.AddTo(app);
}

absl::StatusOr<Stage> OpenStage(const GenerateArgs& args, const Output& output) {
  HY_RETURN_IF_ERROR(engine::CheckSamplingParams(args.sampling));
  engine::SessionOptions options;
  options.context = args.context;
  HY_ASSIGN_OR_RETURN(options.kv.type, KvType(args.kv_type));
  Stage stage;
  HY_RETURN_IF_ERROR(OpenMachine(args, &stage));
  HY_RETURN_IF_ERROR(LoadModel(args, output, &stage));
  HY_ASSIGN_OR_RETURN(stage.session, Session::Create(stage.model.get(), options));
  HY_ASSIGN_OR_RETURN(stage.sampler,
                      engine::Sampler::Create(args.sampling, stage.model->config().vocabulary,
                                              stage.registry.get(), stage.team.get()));
  return stage;
}

absl::StatusOr<Generated> Generate(const Stage& stage, const std::vector<TokenId>& prompt,
                                   const GenerateArgs& args, const Output& output) {
  const engine::Tokenizer& tokenizer = stage.model->tokenizer();
  Generated made;
  engine::StreamDecoder decoder;
  const auto show = [&](const std::string& piece) {
    made.text += piece;
    if (!output.json) output.Text(piece);
  };
  std::signal(SIGINT, OnInterrupt);
  uint64_t begin = MonotonicNs();
  HY_ASSIGN_OR_RETURN(absl::Span<float> logits, stage.session->Feed(prompt));
  for (const TokenId id : prompt) stage.sampler->Accept(id, false);
  made.timings.prompt_s = SecondsSince(begin);
  made.timings.prompt_tokens = static_cast<int64_t>(prompt.size());
  begin = MonotonicNs();
  while (static_cast<int64_t>(made.ids.size()) < args.count && !g_interrupted.load()) {
    HY_ASSIGN_OR_RETURN(const TokenId id, stage.sampler->Sample(logits, stage.session->position()));
    if (tokenizer.IsEnd(id) && !args.ignore_end) break;
    made.ids.push_back(id);
    stage.sampler->Accept(id, true);
    show(decoder.Add(tokenizer.Piece(id)));
    if (static_cast<int64_t>(made.ids.size()) == args.count) break;
    if (stage.session->position() == stage.session->context()) {
      made.end = "the context is full";
      break;
    }
    HY_ASSIGN_OR_RETURN(logits, stage.session->Feed({id}));
    ++made.timings.decoded;
  }
  made.timings.decode_s = SecondsSince(begin);
  show(decoder.Finish());
  return made;
}

bool WasInterrupted() { return g_interrupted.exchange(false); }

nlohmann::json ReportOf(const Stage& stage, const Generated& made) {
  const Timings& t = made.timings;
  const double roof = t.decoded > 0 ? ReadRoof(stage) : 0;
  const double rate = Rate(t.decoded, t.decode_s);
  const double achieved = rate * BytesPerStep(stage, t) * 1e-9;
  std::vector<std::string> quarantined;
  for (const registry::Kernel* kernel : stage.registry->kernels()) {
    if (kernel->quarantined()) quarantined.emplace_back(kernel->id());
  }
  return {{"model", stage.model->config().name},
          {"architecture", stage.model->config().architecture},
          {"threads", stage.team->size()},
          {"context", stage.session->context()},
          {"load_seconds", stage.load_s},
          {"prompt_tokens", t.prompt_tokens},
          {"prompt_seconds", t.prompt_s},
          {"prompt_tokens_per_second", Rate(t.prompt_tokens, t.prompt_s)},
          {"generated_tokens", made.ids.size()},
          {"decode_seconds", t.decode_s},
          {"decode_tokens_per_second", rate},
          {"achieved_gb_per_s", achieved},
          {"read_roof_gb_per_s", roof},
          {"share_of_roof", roof > 0 ? achieved / roof : 0},
          {"weights_packed_bytes", stage.model->weights().packed_bytes()},
          {"kv_bytes", stage.session->kv().bytes()},
          {"barriers_per_step", stage.session->forward().barriers()},
          {"quarantined_kernels", quarantined},
          {"end", made.end},
          {"ids", made.ids},
          {"text", made.text}};
}

void TellReport(const nlohmann::json& report) {
  const auto number = [&](const char* key) { return report[key].get<double>(); };
  std::string line = absl::StrFormat(
      "\n%s: loaded in %.2f s; prompt of %.0f tokens in %.2f s (%.1f/s); %.0f tokens, %.1f/s, "
      "reading "
      "%.1f GB/s",
      report["model"].get<std::string>(), number("load_seconds"), number("prompt_tokens"),
      number("prompt_seconds"), number("prompt_tokens_per_second"), number("generated_tokens"),
      number("decode_tokens_per_second"), number("achieved_gb_per_s"));
  if (number("read_roof_gb_per_s") > 0) {
    absl::StrAppend(&line, absl::StrFormat(", %.0f %% of the %.1f GB/s that %.0f threads can read",
                                           100 * number("share_of_roof"),
                                           number("read_roof_gb_per_s"), number("threads")));
  }
  line += "\n";
  for (const auto& kernel : report["quarantined_kernels"]) {
    absl::StrAppend(&line, "warning: ", kernel.get<std::string>(),
                    " failed; another kernel did its work\n");
  }
  const auto end = report["end"].get<std::string>();
  if (!end.empty()) absl::StrAppend(&line, "The text ends here: ", end, ".\n");
  std::fputs(line.c_str(), stderr);
}

}  // namespace halyard::cli
