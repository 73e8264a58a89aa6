// SPDX-License-Identifier: Apache-2.0
//
// Small drawn models of each architecture through the whole stack, against plain loops in double.
#include "engine/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/gguf/gguf_writer.h"
#include "engine/session/test_naive_model.h"
#include "engine/synth/synth.h"
#include "hal/loader.h"
#include "ops/builtin.h"
#include "registry/plugin.h"

namespace halyard::engine {
namespace {

using testing::HasSubstr;

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    hal::LoadOptions options;
    options.builtins = hal::BuiltinPorts();
    const auto port = hal::LoadPort("linux", options);
    device_.emplace(*hal::Device::Open(*port, "", {}));
    hal::TeamRequest request;
    request.count = 2;
    request.allow_oversubscription = true;
    team_.emplace(*device_->CreateTeam(request));
    registry_ = *registry::MakeRegistry(BuiltinKernelTable(), {});
    std::string name = (std::filesystem::temp_directory_path() / "session.XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SessionTest() override { std::filesystem::remove_all(folder_); }

  std::string Synth(const SynthSpec& spec) const {
    const std::string path = (folder_ / "m.gguf").string();
    const auto made = WriteSynthModel(spec, path);
    EXPECT_TRUE(made.ok()) << made.status();
    return path;
  }
  std::unique_ptr<LoadedModel> Load(const std::string& path, bool pack = true) const {
    auto model =
        LoadedModel::Load(path, registry_.get(), &*team_, {.pack = pack, .on_progress = {}});
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
  absl::Status LoadStatus(const std::string& path) const {
    return LoadedModel::Load(path, registry_.get(), &*team_).status();
  }
  static std::vector<float> Copy(absl::Span<const float> logits) {
    return {logits.begin(), logits.end()};
  }

  std::optional<hal::Device> device_;
  std::optional<hal::Team> team_;
  std::unique_ptr<registry::Registry> registry_;
  std::filesystem::path folder_;
};

SynthSpec SmallSpec(const std::string& architecture, uint32_t type) {
  SynthSpec spec;
  spec.architecture = architecture;
  spec.layers = 4;
  spec.head_size = architecture == "qwen3" ? 24 : 0;
  spec.ffn = 96;
  spec.vocabulary = 301;
  spec.type = type;
  spec.window = 5;
  return spec;
}

const std::vector<int32_t> kTokens = {256, 7, 41, 41, 0, 300, 120, 9, 55, 199, 3, 18};

// Root of the mean square of differences, of that of the values.
double Difference(absl::Span<const float> got, const std::vector<double>& wanted) {
  double difference = 0;
  double all = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    difference += std::pow(static_cast<double>(got[i]) - wanted[i], 2);
    all += std::pow(wanted[i], 2);
  }
  return std::sqrt(difference / all);
}

struct Kind {
  const char* architecture;
  uint32_t type;
  double most;  // activations are rounded to 8 bits for products with block formats
};

class EachModel : public SessionTest, public testing::WithParamInterface<Kind> {};

TEST_P(EachModel, GivesTheLogitsOfPlainLoops) {
  const std::string path = Synth(SmallSpec(GetParam().architecture, GetParam().type));
  const auto model = Load(path);
  const NaiveModel naive(model->file(), model->config());
  const NaiveModel::Rows wanted = naive.Logits(kTokens);
  SessionOptions options;
  options.kv.type = HY_TYPE_F32;
  options.kv.page = 4;
  options.chunk = 5;
  const auto session = Session::Create(model.get(), options);
  ASSERT_TRUE(session.ok()) << session.status();
  // A prompt in chunks, then one by one.
  auto logits = (*session)->Feed(absl::MakeConstSpan(kTokens).first(8));
  ASSERT_TRUE(logits.ok()) << logits.status();
  EXPECT_LT(Difference(*logits, wanted[7]), GetParam().most);
  for (size_t i = 8; i < kTokens.size(); ++i) {
    logits = (*session)->Feed({kTokens[i]});
    ASSERT_TRUE(logits.ok()) << logits.status();
    EXPECT_LT(Difference(*logits, wanted[i]), GetParam().most) << "token " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EachModel,
    testing::Values(Kind{"llama", HY_TYPE_F32, 1e-5}, Kind{"qwen2", HY_TYPE_F32, 1e-5},
                    Kind{"qwen3", HY_TYPE_F32, 1e-5}, Kind{"smollm3", HY_TYPE_F32, 1e-5},
                    Kind{"minicpm", HY_TYPE_F32, 1e-5}, Kind{"gemma3", HY_TYPE_F32, 1e-5},
                    Kind{"llama", HY_TYPE_F16, 1e-5}, Kind{"llama", HY_TYPE_BF16, 1e-5},
                    Kind{"llama", HY_TYPE_Q8_0, 0.05}, Kind{"llama", HY_TYPE_Q4_0, 0.05},
                    Kind{"llama", HY_TYPE_Q4_1, 0.05}, Kind{"qwen3", HY_TYPE_Q4_K, 0.05},
                    Kind{"gemma3", HY_TYPE_Q6_K, 0.05}, Kind{"llama", HY_TYPE_Q2_K, 0.05}),
    [](const auto& one) {
      return std::string(one.param.architecture) + "_" + hy_type_name(one.param.type);
    });

TEST_F(SessionTest, ChunksPagesAndPackingChangeNothing) {
  const std::string path = Synth(SmallSpec("llama", HY_TYPE_F32));
  std::vector<float> first;
  for (const int64_t chunk : {1, 3, 12, 100}) {
    for (const int64_t page : {1, 16}) {
      for (const bool pack : {false, true}) {
        const auto model = Load(path, pack);
        SessionOptions options;
        options.chunk = chunk;
        options.kv.page = page;
        const auto session = Session::Create(model.get(), options);
        ASSERT_TRUE(session.ok()) << session.status();
        const auto logits = (*session)->Feed(kTokens);
        ASSERT_TRUE(logits.ok()) << logits.status();
        if (first.empty()) first = Copy(*logits);
        const std::vector<double> wanted(first.begin(), first.end());
        EXPECT_LT(Difference(*logits, wanted), 1e-4) << chunk << " " << page << " " << pack;
      }
    }
  }
}

TEST_F(SessionTest, StepsHaveFewBarriers) {
  const auto model = Load(Synth(SmallSpec("llama", HY_TYPE_Q8_0)));
  const auto session = Session::Create(model.get(), {});
  ASSERT_TRUE((*session)->Feed({1}).ok());
  EXPECT_LE((*session)->forward().barriers(), 15u * 4 + 6) << (*session)->forward().Describe();
}

TEST_F(SessionTest, WhatDoesNotFitIsRefusedWithNumbers) {
  const auto model = Load(Synth(SmallSpec("llama", HY_TYPE_Q8_0)));
  SessionOptions options;
  options.context = 10;
  const auto session = Session::Create(model.get(), options);
  ASSERT_TRUE(session.ok());
  const auto why = [&](const std::vector<int32_t>& tokens) {
    return std::string((*session)->Feed(tokens).status().message());
  };
  EXPECT_THAT(why({}), HasSubstr("no token"));
  EXPECT_THAT(why(kTokens), HasSubstr("12 tokens do not fit: the context has 10, and 0 are used"));
  EXPECT_THAT(why({301}), HasSubstr("token 301; the model has 301"));
  EXPECT_THAT(why({-1}), HasSubstr("token -1"));
  EXPECT_EQ((*session)->position(), 0);
  options.kv.type = HY_TYPE_Q4_0;
  EXPECT_THAT(std::string(Session::Create(model.get(), options).status().message()),
              HasSubstr("cannot be kept as q4_0"));
}

TEST_F(SessionTest, FilesThatAreNoModelSayWhatIsMissing) {
  const std::string path = Synth(SmallSpec("llama", HY_TYPE_Q8_0));
  const auto file = *GgufModelFile::Open(path);
  // The same model, but for what a test leaves out or changes.
  const auto without = [&](absl::string_view key, absl::string_view tensor, bool transpose) {
    GgufWriter writer;
    for (const GgufEntry& entry : file->head().entries()) {
      if (entry.key == key) continue;
      EXPECT_TRUE(writer.Copy(file->head(), entry).ok());
    }
    if (key == "general.architecture") writer.AddString(key, "mamba");
    for (const GgufTensor* one : file->tensors()) {
      if (one->name == tensor && !transpose) continue;
      std::vector<int64_t> shape(one->shape.begin(), one->shape.begin() + one->rank);
      if (one->name == tensor) std::swap(shape[0], shape[1]);
      EXPECT_TRUE(
          writer
              .AddTensor(one->name, one->type, shape, [&file, one] { return file->BytesOf(*one); })
              .ok());
    }
    const std::string other = (folder_ / "other.gguf").string();
    EXPECT_TRUE(writer.Write(other).ok());
    return std::string(LoadStatus(other).message());
  };
  EXPECT_THAT(without("", "blk.2.ffn_up.weight", false),
              HasSubstr("no tensor blk.2.ffn_up.weight, which llama needs"));
  EXPECT_THAT(without("", "blk.1.ffn_up.weight", true),
              HasSubstr("blk.1.ffn_up.weight has the shape [64, 96] instead of [96, 64]"));
  EXPECT_THAT(without("llama.block_count", "", false), HasSubstr("no key llama.block_count"));
  EXPECT_THAT(without("tokenizer.ggml.tokens", "", false),
              HasSubstr("no key tokenizer.ggml.tokens"));
  EXPECT_THAT(without("general.architecture", "", false),
              HasSubstr("architecture 'mamba' cannot be run; these can: llama, qwen2"));
}

TEST(SynthTest, TheSameSpecGivesTheSameBytes) {
  const auto bytes = [](uint64_t seed) {
    SynthSpec spec = SmallSpec("gemma3", HY_TYPE_Q4_K);
    spec.seed = seed;
    const std::string path =
        (std::filesystem::temp_directory_path() / absl::StrCat("synth.", getpid(), ".gguf"))
            .string();
    EXPECT_TRUE(WriteSynthModel(spec, path).ok());
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::filesystem::remove(path);
    return text;
  };
  EXPECT_EQ(bytes(5), bytes(5));
  EXPECT_NE(bytes(5), bytes(6));
  EXPECT_FALSE(SynthPreset("gpt-9").ok());
  for (const char* name : {"smollm2-135m", "llama-3-8b"}) EXPECT_TRUE(SynthPreset(name).ok());
}

}  // namespace
}  // namespace halyard::engine
