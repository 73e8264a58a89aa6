// SPDX-License-Identifier: Apache-2.0
#include "registry/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "registry/run.h"
#include "registry/test_table.h"

namespace halyard::registry {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Plugin(absl::string_view variant) {
  return absl::StrCat(HALYARD_TEST_KERNELS_DIR, "/libtest_kernels_", variant, ".so");
}

std::string Refusal(absl::string_view variant, absl::StatusCode code) {
  Registry registry;
  FillBuiltin(&registry);
  const absl::Status status = AddPlugin(Plugin(variant), &registry);
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(registry.kernels().size(), 3u);
  return std::string(status.message());
}

TEST(PluginTest, APluginsKernelWinsAndRunsAndItsBadOneIsLeftOut) {
  Registry registry;
  FillBuiltin(&registry);
  ASSERT_TRUE(AddPlugin(Plugin("good"), &registry).ok());
  ASSERT_EQ(registry.refusals().size(), 1u);
  EXPECT_EQ(registry.refusals()[0].what, "blend/any/bad@acme");
  EXPECT_THAT(registry.refusals()[0].reason, HasSubstr("contract 7"));
  const hal::Device device = TestDevice();
  const hal::Team team = TestTeam(device, 2);
  Runner runner(&registry, &team);
  Blend blend(5, 6);
  ASSERT_TRUE(runner.Run(*registry.FindOp("blend"), &blend.args).ok());
  EXPECT_EQ(runner.ran()->id(), "blend/any/plugin@acme");
  EXPECT_EQ(runner.ran()->source().origin, Plugin("good"));
  EXPECT_EQ(blend.y, blend.Expected());
}

TEST(PluginTest, EachRefusalSaysWhatToDo) {
  EXPECT_THAT(Refusal("no_entry", absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("halyard_kernels_get"), HasSubstr("HALYARD_KERNELS_DEFINE")));
  EXPECT_THAT(Refusal("reason_1", absl::StatusCode::kFailedPrecondition),
              HasSubstr("build it with the headers of this Halyard"));
  EXPECT_THAT(Refusal("reason_2", absl::StatusCode::kFailedPrecondition),
              HasSubstr("update Halyard"));
  EXPECT_THAT(Refusal("reason_4", absl::StatusCode::kUnavailable), HasSubstr("platform"));
  EXPECT_THAT(Refusal("reason_0", absl::StatusCode::kInvalidArgument), HasSubstr("says nothing"));
  EXPECT_THAT(Refusal("no_such", absl::StatusCode::kNotFound), HasSubstr("no_such.so"));
}

TEST(PluginTest, TheSameLibraryTwiceGivesNothingNew) {
  Registry registry;
  FillBuiltin(&registry);
  ASSERT_TRUE(AddPlugin(Plugin("good"), &registry).ok());
  ASSERT_TRUE(AddPlugin(Plugin("good"), &registry).ok());
  EXPECT_EQ(registry.kernels().size(), 4u);
  EXPECT_THAT(registry.refusals().back().reason, HasSubstr("has the id of a kernel of"));
}

class KernelFolderTest : public ::testing::Test {
 protected:
  KernelFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "halyard_kernels_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    builtin_.Op(kBlend).Kernel(BlendReference());
  }
  ~KernelFolderTest() override { fs::remove_all(folder_); }
  std::string folder_;
  TestTable builtin_{"halyard"};
};

TEST_F(KernelFolderTest, FoldersGiveWhatLoadsAndNamedFilesMustLoad) {
  fs::create_symlink(Plugin("good"), folder_ + "/good.so");
  std::ofstream(folder_ + "/broken.so") << "text";
  std::ofstream(folder_ + "/README") << "text";
  PluginOptions options;
  options.folders = {folder_, folder_ + "/no_such_folder"};
  absl::StatusOr<std::unique_ptr<Registry>> registry = MakeRegistry(builtin_.Get(), options);
  ASSERT_TRUE(registry.ok()) << registry.status();
  EXPECT_NE((*registry)->FindKernel("blend/any/plugin@acme"), nullptr);
  options.files = {folder_ + "/broken.so"};
  registry = MakeRegistry(builtin_.Get(), options);
  EXPECT_EQ(registry.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(KernelFolderTest, TheEnvironmentNamesFoldersAndOverrides) {
  setenv("HALYARD_KERNEL_PATH", absl::StrCat("/first:", folder_).c_str(), 1);
  const std::vector<std::string> folders = DefaultKernelFolders();
  unsetenv("HALYARD_KERNEL_PATH");
  ASSERT_GE(folders.size(), 3u);
  EXPECT_EQ(folders[0], "/first");
  EXPECT_EQ(folders[1], folder_);
  EXPECT_THAT(folders[2], HasSubstr("halyard/kernels"));
  setenv("HALYARD_FORCE_KERNEL", "blend=*reference*", 1);
  const absl::StatusOr<std::unique_ptr<Registry>> registry = MakeRegistry(builtin_.Get(), {});
  unsetenv("HALYARD_FORCE_KERNEL");
  ASSERT_TRUE(registry.ok());
  EXPECT_TRUE((*registry)->FindOp("blend")->reference().forced());
}

}  // namespace
}  // namespace halyard::registry
