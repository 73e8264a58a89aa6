// SPDX-License-Identifier: Apache-2.0
#include "hal/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "hal/loader.h"

namespace halyard::hal {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kGood = "name: acme\nfile: libacme.so\nabi: \"1.0\"\n";

class ManifestTest : public ::testing::Test {
 protected:
  ManifestTest() {
    std::string pattern = (fs::temp_directory_path() / "halyard_manifest_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    unsetenv("HALYARD_PORT_PATH");
  }
  ~ManifestTest() override {
    unsetenv("HALYARD_PORT_PATH");
    fs::remove_all(folder_);
  }

  std::string Write(absl::string_view name, absl::string_view content) {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string Refusal(absl::string_view content) {
    const auto manifest = ReadManifest(Write("acme.port.yaml", content));
    EXPECT_EQ(manifest.status().code(), absl::StatusCode::kInvalidArgument)
        << manifest.status() << "\n"
        << content;
    return std::string(manifest.status().message());
  }

  std::string folder_;
};

TEST_F(ManifestTest, ReadsEveryKey) {
  const std::string digest(64, 'a');
  const auto manifest = ReadManifest(
      Write("acme.port.yaml", absl::StrCat(kGood, "min_host: 0.1.0\nsha256: ", digest,
                                           "\nvendor: Acme\ndescription: \"X1: two cores\"\n")));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->name, "acme");
  EXPECT_EQ(manifest->file, folder_ + "/libacme.so");
  EXPECT_EQ(manifest->abi_major, 1u);
  EXPECT_EQ(manifest->abi_minor, 0u);
  EXPECT_EQ(manifest->min_host, "0.1.0");
  EXPECT_EQ(manifest->sha256, digest);
  EXPECT_EQ(manifest->vendor, "Acme");
  EXPECT_EQ(manifest->description, "X1: two cores");
}

TEST_F(ManifestTest, AnAbsoluteFileStaysAsItIs) {
  const auto manifest =
      ReadManifest(Write("acme.port.yaml", "name: acme\nfile: /opt/libacme.so\nabi: 1.0\n"));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->file, "/opt/libacme.so");
}

TEST_F(ManifestTest, UnknownRepeatedAndMissingKeysAreErrorsWithTheirLine) {
  EXPECT_THAT(Refusal(absl::StrCat(kGood, "colour: red\n")),
              AllOf(HasSubstr("line 4"), HasSubstr("unknown key 'colour'"), HasSubstr(folder_)));
  EXPECT_THAT(Refusal(absl::StrCat(kGood, "file: b.so\n")),
              AllOf(HasSubstr("line 4"), HasSubstr("'file' twice")));
  EXPECT_THAT(Refusal("name: acme\nabi: \"1.0\"\n"), HasSubstr("'file' is missing"));
  EXPECT_THAT(Refusal("name: acme\nfile: a.so\n"), HasSubstr("'abi' is missing"));
  EXPECT_THAT(Refusal("file: a.so\nabi: \"1.0\"\n"), HasSubstr("'name' is missing"));
}

TEST_F(ManifestTest, MalformedValuesAreErrors) {
  EXPECT_THAT(Refusal("name: acme\nfile: a.so\nabi: 1\n"), HasSubstr("\"1.0\""));
  EXPECT_THAT(Refusal("name: acme\nfile: a.so\nabi: -1.0\n"), HasSubstr("\"1.0\""));
  EXPECT_THAT(Refusal("name: Acme\nfile: a.so\nabi: \"1.0\"\n"), HasSubstr("lower-case"));
  EXPECT_THAT(Refusal("name: other\nfile: a.so\nabi: \"1.0\"\n"), HasSubstr("other.port.yaml"));
  EXPECT_THAT(Refusal("name: acme\nfile: [a.so]\nabi: \"1.0\"\n"), HasSubstr("'file'"));
  EXPECT_THAT(Refusal("name: acme\nfile:\nabi: \"1.0\"\n"), HasSubstr("'file'"));
  EXPECT_THAT(Refusal(absl::StrCat(kGood, "sha256: abc\n")), HasSubstr("64"));
  EXPECT_THAT(Refusal(absl::StrCat(kGood, "min_host: soon\n")), HasSubstr("min_host"));
  EXPECT_THAT(Refusal(absl::StrCat(kGood, "? [a]\n: b\n")), HasSubstr("not a word"));
}

TEST_F(ManifestTest, WhatIsNoManifestIsAnError) {
  EXPECT_THAT(Refusal(""), HasSubstr("one YAML document"));
  EXPECT_THAT(Refusal("just text"), HasSubstr("no keys"));
  EXPECT_THAT(Refusal("a: b: c: d\n"), HasSubstr("line 1"));
  EXPECT_THAT(Refusal("a: \"unfinished\n"), HasSubstr("line"));
  EXPECT_THAT(Refusal(absl::StrCat(kGood, "---\n", kGood)), HasSubstr("one YAML document"));
  EXPECT_THAT(Refusal(std::string(100000, ' ')), HasSubstr("too long"));
  Refusal(std::string(10000, '['));
  Refusal(std::string("a: \0\x01\xff\n", 7));
  EXPECT_THAT(std::string(ReadManifest(Write("acme.yaml", kGood)).status().message()),
              HasSubstr(".port.yaml"));
}

TEST_F(ManifestTest, AMissingManifestIsNotFound) {
  EXPECT_EQ(ReadManifest(folder_ + "/none.port.yaml").status().code(), absl::StatusCode::kNotFound);
  fs::create_directory(folder_ + "/folder.port.yaml");
  EXPECT_FALSE(ReadManifest(folder_ + "/folder.port.yaml").ok());
}

TEST_F(ManifestTest, AnotherAbiOrALaterHostIsSaidBeforeLoading) {
  Manifest manifest;
  manifest.name = "acme";
  manifest.abi_major = 2;
  absl::Status status = CheckManifest(manifest);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("2.0"), HasSubstr("update Halyard")));
  manifest.abi_major = 1;
  manifest.abi_minor = 9;  // minor versions only add
  EXPECT_TRUE(CheckManifest(manifest).ok());
  manifest.min_host = "1000";
  status = CheckManifest(manifest);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1000"));
  manifest.min_host = "0.0.9";
  EXPECT_TRUE(CheckManifest(manifest).ok());
}

TEST_F(ManifestTest, TheDigestIsComparedBeforeLoading) {
  Manifest manifest;
  manifest.name = "acme";
  manifest.abi_major = 1;
  manifest.file = Write("libacme.so", "abc");
  // FIPS 180-2, appendix B.1.
  manifest.sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_TRUE(CheckManifest(manifest).ok());
  Write("libacme.so", "abd");
  EXPECT_EQ(CheckManifest(manifest).code(), absl::StatusCode::kFailedPrecondition);
  fs::remove(manifest.file);
  EXPECT_EQ(CheckManifest(manifest).code(), absl::StatusCode::kNotFound);
}

// ---- Loading through manifests. ----

std::string GoodPlugin() { return std::string(HALYARD_TEST_PLUGINS_DIR) + "/libtest_port_good.so"; }

TEST_F(ManifestTest, APortLoadsByItsWord) {
  Write("test_port.port.yaml",
        absl::StrCat("name: test_port\nabi: \"1.0\"\nfile: ", GoodPlugin(), "\n"));
  setenv("HALYARD_PORT_PATH", absl::StrCat("/nowhere:", folder_).c_str(), 1);
  const auto port = LoadPort("test_port", {});
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ((*port)->name(), "test_port");
  EXPECT_TRUE(LoadPort(folder_ + "/test_port.port.yaml", {}).ok());
}

TEST_F(ManifestTest, AManifestThatNamesAnotherPortIsRefused) {
  Write("acme.port.yaml", absl::StrCat("name: acme\nabi: \"1.0\"\nfile: ", GoodPlugin(), "\n"));
  LoadOptions options;
  options.search_path = {folder_};
  const auto port = LoadPort("acme", options);
  EXPECT_EQ(port.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(port.status().message()), HasSubstr("'test_port'"));
}

TEST_F(ManifestTest, TheListShowsBuiltinsThenPluginsWithTheirProblems) {
  Write("b_good.port.yaml", "name: b_good\nfile: b.so\nabi: \"1.0\"\n");
  Write("a_bad.port.yaml", "name: a_bad\n");
  Write("linux.port.yaml", "name: linux\nfile: l.so\nabi: \"1.0\"\n");
  Write("notes.txt", "not a manifest");
  const BuiltinPort builtins[] = {{"linux", nullptr}};
  LoadOptions options;
  options.builtins = builtins;
  options.search_path = {folder_, folder_ + "/", "/nowhere"};
  std::vector<PortListing> here;
  for (const PortListing& port : ListPorts(options)) {
    if (port.origin == "built in" || port.origin.rfind(folder_, 0) == 0) here.push_back(port);
  }
  ASSERT_EQ(here.size(), 4u);
  EXPECT_EQ(here[0].name, "linux");
  EXPECT_EQ(here[0].origin, "built in");
  EXPECT_EQ(here[1].name, "a_bad");
  EXPECT_THAT(here[1].problem, HasSubstr("missing"));
  EXPECT_EQ(here[2].name, "b_good");
  EXPECT_THAT(here[2].problem, IsEmpty());
  EXPECT_THAT(here[3].problem, HasSubstr("hidden"));
}

}  // namespace
}  // namespace halyard::hal
