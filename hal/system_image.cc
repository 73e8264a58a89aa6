// SPDX-License-Identifier: Apache-2.0
//
// Parser of the text images of machines. The format: ports/sim_topology/fixtures/README.md.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cpu_list.h"
#include "base/status_macros.h"
#include "hal/system_view.h"
#include "halyard/hal_types.h"

namespace halyard::hal {
namespace {

// An image may come from anywhere: what it expands to is bounded.
constexpr size_t kMaxFiles = 1'000'000;
constexpr size_t kMaxExpandedBytes = size_t{64} << 20;
constexpr uint64_t kMaxPageBytes = uint64_t{1} << 40;

struct Image {
  std::string machine;
  std::string arch;
  uint64_t page_bytes = 4096;
  std::map<std::string, std::string, std::less<>> files;
  IsaMask isa{};
  std::map<uint32_t, IsaMask> isa_by_unit;
  std::vector<std::pair<std::string, std::string>> facts;
};

class ImageView final : public SystemView {
 public:
  explicit ImageView(Image image) : image_(std::move(image)) {}

  std::optional<std::string> Read(absl::string_view path) const override {
    const auto found = image_.files.find(path);
    if (found == image_.files.end()) return std::nullopt;
    return found->second;
  }

  std::vector<std::string> List(absl::string_view path) const override {
    const std::string prefix = absl::StrCat(path, "/");
    std::set<std::string> names;
    auto file = image_.files.lower_bound(prefix);
    while (file != image_.files.end() && absl::StartsWith(file->first, prefix)) {
      const absl::string_view rest = absl::string_view(file->first).substr(prefix.size());
      const size_t slash = rest.find('/');
      const std::string name(rest.substr(0, slash));
      names.insert(name);
      // '0' is the character after '/': on to the first path that is not below this folder.
      file = slash == absl::string_view::npos
                 ? std::next(file)
                 : image_.files.lower_bound(absl::StrCat(prefix, name, "0"));
    }
    return {names.begin(), names.end()};
  }

  bool is_live() const override { return false; }
  std::string arch() const override { return image_.arch; }
  uint64_t page_bytes() const override { return image_.page_bytes; }
  uint32_t source() const override { return HY_SOURCE_FIXTURE; }

  IsaMask isa(uint32_t pu) const override {
    const auto found = image_.isa_by_unit.find(pu);
    return found == image_.isa_by_unit.end() ? image_.isa : found->second;
  }

 private:
  const Image image_;
};

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// One `{}` or `{op n}` of a value; `text` is what stands between the braces.
absl::StatusOr<uint64_t> Evaluate(absl::string_view text, uint32_t index) {
  if (text.empty()) return uint64_t{index};
  uint32_t number = 0;
  if (!absl::SimpleAtoi(text.substr(1), &number)) {
    return Invalid(absl::StrCat("'{", text, "}' is no index arithmetic"));
  }
  switch (text[0]) {
    case '+':
      return uint64_t{index} + number;
    case '*':
      return uint64_t{index} * number;
    case '-':
      if (number > index) return Invalid(absl::StrCat("'{", text, "}' is negative at ", index));
      return uint64_t{index - number};
    default:
      if (number == 0) return Invalid(absl::StrCat("'{", text, "}' divides by zero"));
      return uint64_t{text[0] == '/' ? index / number : index % number};
  }
}

// Length of the `{}` or `{op n}` that text begins with; 0 if it begins with neither.
size_t FieldLength(absl::string_view text) {
  if (absl::StartsWith(text, "{}")) return 2;
  if (text.size() < 4 || text[0] != '{' || !absl::StrContains("+-*/%", text[1])) return 0;
  size_t end = 2;
  while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) ++end;
  return end > 2 && end < text.size() && text[end] == '}' ? end + 1 : 0;
}

absl::StatusOr<std::string> ExpandValue(absl::string_view value, uint32_t index) {
  std::string expanded;
  while (!value.empty()) {
    const size_t length = FieldLength(value);
    if (length == 0) {
      const size_t next = value.find('{', 1);
      absl::StrAppend(&expanded, value.substr(0, next));
      value.remove_prefix(std::min(next, value.size()));
      continue;
    }
    HY_ASSIGN_OR_RETURN(const uint64_t number, Evaluate(value.substr(1, length - 2), index));
    absl::StrAppend(&expanded, number);
    value.remove_prefix(length);
  }
  return expanded;
}

class Parser {
 public:
  explicit Parser(absl::string_view text) : lines_(absl::StrSplit(text, '\n')) {}

  absl::StatusOr<Image> Parse() {
    while (next_ < lines_.size()) {
      const size_t number = next_ + 1;
      const absl::Status status = ParseLine(lines_[next_++]);
      if (!status.ok()) return Invalid(absl::StrCat("line ", number, ": ", status.message()));
    }
    if (image_.machine.empty()) return Invalid("no @machine line");
    if (image_.arch.empty()) return Invalid("no @arch line");
    // Only now: @arch may stand after @isa.
    for (const IsaLine& line : isa_lines_) {
      const IsaMask isa = IsaFromWords(image_.arch, line.words);
      if (line.every_unit) image_.isa = isa;
      for (uint32_t unit : line.units) image_.isa_by_unit[unit] = isa;
    }
    return std::move(image_);
  }

 private:
  struct IsaLine {
    bool every_unit = true;
    std::vector<uint32_t> units;
    std::vector<std::string> words;
  };

  absl::Status ParseLine(absl::string_view line) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty() || text[0] == '#') return absl::OkStatus();
    if (text[0] == '@') return ParseDirective(text);
    const size_t equals = text.find(" = ");
    if (equals != absl::string_view::npos) {
      return AddFiles(text.substr(0, equals), text.substr(equals + 3));
    }
    if (absl::EndsWith(text, " =")) return AddFiles(text.substr(0, text.size() - 2), "");
    const size_t here = text.find(" <<");
    if (here == absl::string_view::npos) {
      return Invalid("expected a comment, '@word', 'path = value' or 'path <<END'");
    }
    HY_ASSIGN_OR_RETURN(const std::string body, TakeBody(text.substr(here + 3)));
    return AddFiles(text.substr(0, here), body);
  }

  absl::StatusOr<std::string> TakeBody(absl::string_view tag) {
    if (tag.empty()) return Invalid("no word after '<<'");
    const size_t first = next_;
    while (next_ < lines_.size() && absl::StripSuffix(lines_[next_], "\r") != tag) ++next_;
    if (next_ == lines_.size()) {
      next_ = first;
      return Invalid(absl::StrCat("'", tag, "' never comes"));
    }
    std::string body;
    for (size_t i = first; i < next_; ++i) {
      absl::StrAppend(&body, i == first ? "" : "\n", lines_[i]);
    }
    ++next_;
    return body;
  }

  absl::Status AddFiles(absl::string_view path, absl::string_view value) {
    const size_t open = path.find('{');
    if (open == absl::string_view::npos) return AddFile(std::string(path), std::string(value));
    const size_t close = path.find('}', open);
    if (close == absl::string_view::npos) return Invalid("'{' without '}' in the path");
    const absl::string_view rest = path.substr(close + 1);
    if (absl::StrContains(rest, '{')) return Invalid("more than one brace group in the path");
    HY_ASSIGN_OR_RETURN(const std::vector<uint32_t> indexes,
                        ParseCpuList(path.substr(open + 1, close - open - 1)));
    for (uint32_t index : indexes) {
      HY_ASSIGN_OR_RETURN(std::string expanded, ExpandValue(value, index));
      HY_RETURN_IF_ERROR(
          AddFile(absl::StrCat(path.substr(0, open), index, rest), std::move(expanded)));
    }
    return absl::OkStatus();
  }

  absl::Status AddFile(std::string path, std::string value) {
    if (!IsImagePath(path)) return Invalid(absl::StrCat("'", path, "' is no path of a file"));
    // A line that overrides another counts too: the work is bounded, not only what is kept.
    expanded_bytes_ += path.size() + value.size();
    if (++expanded_files_ > kMaxFiles || expanded_bytes_ > kMaxExpandedBytes) {
      return Invalid("the image is too large: at most 1,000,000 files and 64 MiB");
    }
    image_.files[std::move(path)] = std::move(value);
    return absl::OkStatus();
  }

  absl::Status ParseDirective(absl::string_view text) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits(' ', 1));
    const absl::string_view rest = absl::StripAsciiWhitespace(parts.second);
    if (parts.first == "@machine") return SetOnce("@machine", rest, &image_.machine);
    if (parts.first == "@arch") return SetOnce("@arch", rest, &image_.arch);
    if (parts.first == "@page_bytes") return ParsePageBytes(rest);
    if (parts.first == "@expect") return ParseFacts(rest);
    if (parts.first == "@isa" || absl::StartsWith(parts.first, "@isa[")) {
      return ParseIsa(parts.first.substr(4), rest);
    }
    return Invalid(absl::StrCat("unknown directive ", parts.first));
  }

  static absl::Status SetOnce(absl::string_view name, absl::string_view value, std::string* out) {
    if (value.empty()) return Invalid(absl::StrCat(name, " has no value"));
    if (!out->empty()) return Invalid(absl::StrCat("second ", name));
    *out = std::string(value);
    return absl::OkStatus();
  }

  absl::Status ParsePageBytes(absl::string_view text) {
    uint64_t bytes = 0;
    if (!absl::SimpleAtoi(text, &bytes) || bytes == 0 || (bytes & (bytes - 1)) != 0 ||
        bytes > kMaxPageBytes) {
      return Invalid(absl::StrCat("@page_bytes '", text, "' is no power of two"));
    }
    image_.page_bytes = bytes;
    return absl::OkStatus();
  }

  absl::Status ParseFacts(absl::string_view text) {
    for (absl::string_view item : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> fact =
          absl::StrSplit(item, absl::MaxSplits('=', 1));
      if (fact.first.empty() || fact.second.empty()) {
        return Invalid(absl::StrCat("@expect '", item, "' is not key=value"));
      }
      image_.facts.push_back(fact);
    }
    return absl::OkStatus();
  }

  // `which` is "" or "[4-7]".
  absl::Status ParseIsa(absl::string_view which, absl::string_view words) {
    IsaLine line;
    if (!which.empty()) {
      if (!absl::ConsumePrefix(&which, "[") || !absl::ConsumeSuffix(&which, "]")) {
        return Invalid("expected '@isa words' or '@isa[units] words'");
      }
      line.every_unit = false;
      HY_ASSIGN_OR_RETURN(line.units, ParseCpuList(which));
      isa_units_ += line.units.size();
      if (isa_units_ > kMaxFiles) return Invalid("too many units in @isa lines");
    }
    line.words = absl::StrSplit(words, absl::ByAnyChar(", "), absl::SkipEmpty());
    isa_lines_.push_back(std::move(line));
    return absl::OkStatus();
  }

  const std::vector<absl::string_view> lines_;
  size_t next_ = 0;
  size_t expanded_files_ = 0;
  size_t expanded_bytes_ = 0;
  size_t isa_units_ = 0;
  std::vector<IsaLine> isa_lines_;
  Image image_;
};

}  // namespace

bool IsImagePath(absl::string_view path) {
  const auto breaks_the_line = [](unsigned char c) {
    return absl::ascii_isspace(c) || c == '{' || c == '}';
  };
  return !path.empty() && !absl::StrContains("/#@", path.front()) && path.back() != '/' &&
         !absl::StrContains(path, "//") && std::none_of(path.begin(), path.end(), breaks_the_line);
}

absl::StatusOr<std::shared_ptr<const SystemView>> ParseSystemImage(absl::string_view text) {
  if (text.size() > kMaxExpandedBytes) return Invalid("the image is larger than 64 MiB");
  HY_ASSIGN_OR_RETURN(Image image, Parser(text).Parse());
  return std::make_shared<ImageView>(std::move(image));
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ImageFacts(
    absl::string_view text) {
  HY_ASSIGN_OR_RETURN(Image image, Parser(text).Parse());
  image.facts.emplace_back("machine", image.machine);
  return std::move(image.facts);
}

}  // namespace halyard::hal
