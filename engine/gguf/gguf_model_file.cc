// SPDX-License-Identifier: Apache-2.0
#include "engine/gguf/gguf_model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace halyard::engine {
namespace {

// More parts than any model has.
constexpr int64_t kMostParts = 999;

absl::Status CannotRead(const std::string& path) {
  return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
}

absl::StatusOr<absl::Span<const uint8_t>> MapOpened(int fd, const std::string& path) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) return CannotRead(path);
  if (!S_ISREG(facts.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, " is no regular file"));
  const auto size = static_cast<uint64_t>(facts.st_size);
  if (size == 0) return absl::InvalidArgumentError(absl::StrCat(path, " is empty"));
  if (size > std::numeric_limits<size_t>::max() / 2) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, " has ", size, " bytes, more than this machine can address"));
  }
  void* const at = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) return CannotRead(path);
  return absl::Span<const uint8_t>(static_cast<const uint8_t*>(at), static_cast<size_t>(size));
}

absl::StatusOr<absl::Span<const uint8_t>> Map(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CannotRead(path);
  absl::StatusOr<absl::Span<const uint8_t>> mapping = MapOpened(fd, path);
  close(fd);
  return mapping;
}

std::string SuffixOf(int64_t number, int64_t count) {
  return absl::StrFormat("-%05d-of-%05d.gguf", number, count);
}

}  // namespace

absl::Status GgufModelFile::AddPart(const std::string& path) {
  HY_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> mapping, Map(path));
  absl::StatusOr<GgufFile> file = GgufFile::Parse(mapping);
  if (!file.ok()) {
    munmap(const_cast<uint8_t*>(mapping.data()), mapping.size());
    return absl::Status(file.status().code(), absl::StrCat(path, ": ", file.status().message()));
  }
  parts_.push_back({path, mapping, *std::move(file)});
  return absl::OkStatus();
}

absl::Status GgufModelFile::CheckPart(int64_t number, int64_t count) const {
  const GgufFile& file = parts_.back().file;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(parts_.back().path, ": ", what));
  };
  HY_ASSIGN_OR_RETURN(const int64_t its_number, file.Int("split.no"));
  HY_ASSIGN_OR_RETURN(const int64_t its_count, file.Int("split.count"));
  if (its_number != number || its_count != count) {
    return bad(absl::StrCat("says that it is part ", its_number, " (from 0) of ", its_count,
                            ", and was taken for part ", number, " of ", count));
  }
  if (file.is_big_endian() != head().is_big_endian()) return bad("has another byte order");
  for (const GgufTensor& tensor : file.tensors()) {
    if (FindTensor(tensor.name) != &tensor)
      return bad(absl::StrCat("has the tensor ", tensor.name, ", which an earlier part has, too"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<GgufModelFile>> GgufModelFile::Open(const std::string& path) {
  std::unique_ptr<GgufModelFile> model(new GgufModelFile);
  HY_RETURN_IF_ERROR(model->AddPart(path));
  HY_ASSIGN_OR_RETURN(const int64_t count, model->head().IntOr("split.count", 1));
  if (count <= 1) return model;
  if (count > kMostParts) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": split.count is ", count, "; up to ", kMostParts, " are possible"));
  }
  HY_RETURN_IF_ERROR(model->CheckPart(0, count));
  const std::string first = SuffixOf(1, count);
  if (!absl::EndsWith(path, first)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is the first of ", count,
                                                   " parts, so its name must end with ", first));
  }
  const std::string stem = path.substr(0, path.size() - first.size());
  for (int64_t i = 1; i < count; ++i) {
    HY_RETURN_IF_ERROR(model->AddPart(stem + SuffixOf(i + 1, count)));
    HY_RETURN_IF_ERROR(model->CheckPart(i, count));
  }
  const auto tensors = static_cast<int64_t>(model->tensors().size());
  HY_ASSIGN_OR_RETURN(const int64_t wanted, model->head().IntOr("split.tensors.count", tensors));
  if (wanted != tensors) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": split.tensors.count is ", wanted, ", and the parts have ", tensors));
  }
  return model;
}

GgufModelFile::~GgufModelFile() {
  for (const Part& part : parts_)
    munmap(const_cast<uint8_t*>(part.mapping.data()), part.mapping.size());
}

uint64_t GgufModelFile::bytes() const {
  uint64_t sum = 0;
  for (const Part& part : parts_) sum += part.mapping.size();
  return sum;
}

std::vector<const GgufTensor*> GgufModelFile::tensors() const {
  std::vector<const GgufTensor*> all;
  for (const Part& part : parts_) {
    for (const GgufTensor& tensor : part.file.tensors()) all.push_back(&tensor);
  }
  return all;
}

const GgufTensor* GgufModelFile::FindTensor(absl::string_view name) const {
  for (const Part& part : parts_) {
    if (const GgufTensor* const tensor = part.file.FindTensor(name)) return tensor;
  }
  return nullptr;
}

absl::Span<const uint8_t> GgufModelFile::BytesOf(const GgufTensor& tensor) const {
  for (const Part& part : parts_) {
    // By its address: names are views of the part's bytes.
    const auto* const name = reinterpret_cast<const uint8_t*>(tensor.name.data());
    if (name >= part.mapping.data() && name < part.mapping.data() + part.mapping.size())
      return part.file.BytesOf(tensor);
  }
  return {};
}

void GgufModelFile::Forget(const GgufTensor& tensor) const {
  const absl::Span<const uint8_t> bytes = BytesOf(tensor);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace halyard::engine
