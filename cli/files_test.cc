// SPDX-License-Identifier: Apache-2.0
#include "cli/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::path(testing::TempDir()) /
           testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  fs::path dir_;
};

TEST_F(Files, WrittenIsRead) {
  const std::string path = (dir_ / "a").string();
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(WriteFile(path, bytes).ok());
  EXPECT_EQ(*ReadFile(path), bytes);
  ASSERT_TRUE(WriteFile(path, "").ok());
  EXPECT_EQ(*ReadFile(path), "");
}

TEST_F(Files, AFailedWriteKeepsWhatWasThere) {
  const fs::path target = dir_ / "busy";
  fs::create_directories(target / "child");  // a folder that is not empty cannot be replaced
  EXPECT_FALSE(WriteFile(target.string(), "new").ok());
  EXPECT_TRUE(fs::exists(target / "child"));
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir_)) ++entries;
  EXPECT_EQ(entries, 1u) << "a temporary file was left";
}

TEST_F(Files, WhatIsNoFileIsWrittenIntoAndStays) {
  const fs::path pipe = dir_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(WriteFile(pipe.string(), "text").ok());
  char bytes[8];
  EXPECT_EQ(read(reader, bytes, sizeof bytes), 4);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(Files, AFullDiskIsTold) {
  // Through a link: what WriteFile did wrong would replace the link, not the device.
  const fs::path full = dir_ / "full";
  fs::create_symlink("/dev/full", full);
  if (!fs::is_character_file(full)) GTEST_SKIP() << "there is no /dev/full";
  const absl::Status status = WriteFile(full.string(), "text");
  EXPECT_NE(status.message().find("No space left"), absl::string_view::npos) << status;
  EXPECT_TRUE(fs::is_symlink(full));
}

TEST_F(Files, ALinkGoesOnPointingWhereItDid) {
  const fs::path file = dir_ / "file";
  const fs::path link = dir_ / "link";
  std::ofstream(file) << "old";
  fs::create_symlink(file, link);
  ASSERT_TRUE(WriteFile(link.string(), "new").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*ReadFile(file.string()), "new");
}

TEST_F(Files, AbsentFileNamesItsPath) {
  const absl::StatusOr<std::string> text = ReadFile((dir_ / "nothing").string());
  ASSERT_EQ(text.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(text.status().message().find("nothing"), absl::string_view::npos);
}

TEST_F(Files, WritableDirIsMadeWithItsParents) {
  const fs::path deep = dir_ / "a/b/c";
  ASSERT_TRUE(MakeWritableDir(deep.string()).ok());
  EXPECT_TRUE(fs::is_directory(deep));
  EXPECT_TRUE(fs::is_empty(deep));
}

TEST_F(Files, AFileInTheWayIsAnError) {
  const fs::path file = dir_ / "file";
  std::ofstream(file) << "x";
  const absl::Status status = MakeWritableDir((file / "sub").string());
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_NE(status.message().find("--out"), absl::string_view::npos);
}

}  // namespace
}  // namespace halyard::cli
