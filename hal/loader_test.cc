// SPDX-License-Identifier: Apache-2.0
#include "hal/loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"

namespace halyard::hal {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Plugin(absl::string_view variant) {
  return absl::StrCat(HALYARD_TEST_PLUGINS_DIR, "/libtest_port_", variant, ".so");
}

class LoaderTest : public ::testing::Test {
 protected:
  LoaderTest() {
    std::string pattern = (fs::temp_directory_path() / "halyard_loader_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    unsetenv("HALYARD_PORT_PATH");
    options_.search_path = {folder_};
  }
  ~LoaderTest() override { fs::remove_all(folder_); }

  std::string Write(absl::string_view name, const std::string& content) {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  // Loads, expects a failure with this code, and gives its message.
  std::string Refusal(absl::string_view word_or_path, absl::StatusCode code) {
    const auto port = LoadPort(word_or_path, options_);
    EXPECT_FALSE(port.ok()) << word_or_path;
    EXPECT_EQ(port.status().code(), code) << port.status();
    return std::string(port.status().message());
  }
  std::string Invalid(absl::string_view word_or_path) {
    return Refusal(word_or_path, absl::StatusCode::kInvalidArgument);
  }

  std::string folder_;
  LoadOptions options_;
};

TEST_F(LoaderTest, APluginInC11LoadsByPath) {
  const auto port = LoadPort(Plugin("good"), options_);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ((*port)->name(), "test_port");
  EXPECT_EQ((*port)->origin(), Plugin("good"));
  EXPECT_STREQ((*port)->api().version, "1.2.3");
  EXPECT_EQ((*port)->api().submit, nullptr);
  hy_array devices{};
  EXPECT_EQ((*port)->api().enumerate((*port)->self(), &devices), HY_OK);
  EXPECT_EQ(devices.count, 1u);
}

TEST_F(LoaderTest, LoadingAgainGivesTheSameTable) {
  const auto first = LoadPort(Plugin("good"), options_);
  const auto second = LoadPort(Plugin("good"), options_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*first)->self(), (*second)->self());
}

TEST_F(LoaderTest, ItsNamesStayOutOfTheProgram) {
  ASSERT_TRUE(LoadPort(Plugin("good"), options_).ok());
  EXPECT_EQ(dlsym(RTLD_DEFAULT, HY_HAL_GET_NAME), nullptr);
}

TEST_F(LoaderTest, AMissingFileIsNotFound) {
  EXPECT_THAT(Refusal("/nowhere/libacme.so", absl::StatusCode::kNotFound),
              HasSubstr("/nowhere/libacme.so: No such file"));
  EXPECT_THAT(Refusal("no_such_file.so", absl::StatusCode::kNotFound), HasSubstr("no_such_file"));
}

TEST_F(LoaderTest, WhatIsNoSharedLibraryIsNamedAsSuch) {
  EXPECT_THAT(Invalid(Write("text.so", "#!/bin/sh\necho no plugin\n")), HasSubstr("ELF"));
  EXPECT_THAT(Invalid(Write("short.so",
                            "\x7f"
                            "ELF")),
              HasSubstr("ELF"));
  EXPECT_THAT(Invalid(Write("empty.so", "")), HasSubstr("is empty"));
  EXPECT_THAT(Invalid(folder_), HasSubstr("is a folder"));
  ASSERT_EQ(mkfifo((folder_ + "/pipe.so").c_str(), 0600), 0);
  EXPECT_THAT(Invalid(folder_ + "/pipe.so"), HasSubstr("not a regular file"));
}

TEST_F(LoaderTest, ATruncatedLibraryIsRefusedAtEveryLength) {
  const std::string whole = Contents(Plugin("good"));
  ASSERT_GT(whole.size(), 4096u);
  for (size_t bytes : {size_t{15}, size_t{40}, size_t{63}, size_t{64}, size_t{200}, size_t{4000}}) {
    const std::string path = Write(absl::StrCat("cut", bytes, ".so"), whole.substr(0, bytes));
    EXPECT_THAT(Invalid(path), Not(HasSubstr("dlopen"))) << bytes;
  }
  EXPECT_THAT(Invalid(Write("half.so", whole.substr(0, 4000))), HasSubstr("cut short"));
}

TEST_F(LoaderTest, AnotherMachineIsNamedBesideOurs) {
  std::string image = Contents(Plugin("good"));
  constexpr size_t kMachineOffset = EI_NIDENT + 2;
  const size_t low = image[EI_DATA] == ELFDATA2MSB ? kMachineOffset + 1 : kMachineOffset;
  image[low] = static_cast<char>(8);  // MIPS, which Halyard is not built for
  EXPECT_THAT(Invalid(Write("mips.so", image)),
              AllOf(HasSubstr("built for mips"), HasSubstr(std::string(BuildArch()).substr(0, 3))));
}

TEST_F(LoaderTest, AnotherClassOrByteOrderIsNamed) {
  std::string image = Contents(Plugin("good"));
  const bool is64 = image[EI_CLASS] == ELFCLASS64;
  image[EI_CLASS] = is64 ? ELFCLASS32 : ELFCLASS64;
  EXPECT_THAT(Invalid(Write("class.so", image)), AllOf(HasSubstr("32-bit"), HasSubstr("64-bit")));
  image = Contents(Plugin("good"));
  image[EI_DATA] = image[EI_DATA] == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB;
  EXPECT_THAT(Invalid(Write("order.so", image)), AllOf(HasSubstr("little"), HasSubstr("big")));
}

TEST_F(LoaderTest, AProgramIsNoPlugin) {
  std::string image = Contents(Plugin("good"));
  const size_t low = image[EI_DATA] == ELFDATA2MSB ? EI_NIDENT + 1 : EI_NIDENT;
  image[low] = static_cast<char>(ET_REL);
  EXPECT_THAT(Invalid(Write("object.so", image)), HasSubstr("-shared"));
  image[low] = static_cast<char>(ET_EXEC);
  EXPECT_THAT(Invalid(Write("program.so", image)), HasSubstr("is a program"));
}

TEST_F(LoaderTest, ALibraryWithoutTheEntryIsNoPort) {
  EXPECT_THAT(Invalid(Plugin("no_entry")),
              AllOf(HasSubstr("halyard_hal_get"), HasSubstr("HALYARD_HAL_DEFINE")));
}

TEST_F(LoaderTest, AnUndefinedSymbolIsNamedWithAHint) {
  EXPECT_THAT(Invalid(Plugin("undefined")),
              AllOf(HasSubstr("acme_driver_start"), HasSubstr("-Wl,--no-undefined")));
}

TEST_F(LoaderTest, ALibraryThatIsNotInstalledIsNamed) {
  EXPECT_THAT(Refusal(Plugin("needs_library"), absl::StatusCode::kFailedPrecondition),
              AllOf(HasSubstr("libtest_library.so"), HasSubstr("not installed")));
}

TEST_F(LoaderTest, AnotherMajorVersionIsRefusedWithBothNumbers) {
  EXPECT_THAT(Refusal(Plugin("wrong_major"), absl::StatusCode::kFailedPrecondition),
              AllOf(HasSubstr("ABI 2.0"), HasSubstr("has 1.0"), HasSubstr("update Halyard")));
}

TEST_F(LoaderTest, ARefusalNamesItsReasonAndWhatThePortSaid) {
  EXPECT_THAT(Refusal(Plugin("refuses"), absl::StatusCode::kUnavailable),
              AllOf(HasSubstr("platform"), HasSubstr("no acme bus here")));
}

TEST_F(LoaderTest, AShorterTableHasNullSlotsAtItsEnd) {
  EXPECT_THAT(Invalid(Plugin("small")),
              AllOf(HasSubstr("timestamp"), HasSubstr("release"), Not(HasSubstr("alloc"))));
}

TEST_F(LoaderTest, ALongerTableOfALaterMinorVersionLoads) {
  const auto port = LoadPort(Plugin("large"), options_);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ((*port)->api().struct_size, sizeof(hy_hal_api));
  EXPECT_GT((*port)->self()->struct_size, sizeof(hy_hal_api));
}

TEST_F(LoaderTest, MissingVerbsAreNamed) {
  EXPECT_THAT(Invalid(Plugin("missing_verb")),
              AllOf(HasSubstr("alloc, map or submit"), Not(HasSubstr("enumerate"))));
  EXPECT_THAT(Invalid(Plugin("partial_fence")),
              AllOf(HasSubstr("has fence_signal but not fence_create, fence_wait")));
}

TEST_F(LoaderTest, ANameInUpperCaseIsRefused) {
  EXPECT_THAT(Invalid(Plugin("upper_case")), HasSubstr("'Test_Port'"));
}

TEST_F(LoaderTest, AnUnknownWordListsWhatThereIs) {
  Write("acme_x1.port.yaml", "name: acme_x1\nfile: libacme.so\nabi: \"1.0\"\n");
  const BuiltinPort builtins[] = {{"linux", nullptr}};
  options_.builtins = builtins;
  EXPECT_THAT(Refusal("acme_x2", absl::StatusCode::kNotFound),
              AllOf(HasSubstr("linux, acme_x1"), HasSubstr(folder_)));
  EXPECT_THAT(Invalid("Linux"), HasSubstr("lower-case"));
  EXPECT_THAT(Invalid(""), HasSubstr("empty"));
}

}  // namespace
}  // namespace halyard::hal
