// SPDX-License-Identifier: Apache-2.0
#include "facts/chip_sheet.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "facts/yaml_fields.h"
#include "halyard/hal_types.h"

namespace halyard::facts {
namespace {

namespace fs = std::filesystem;

void ReadMidrPart(const YAML::Node& node, YamlFault* fault, MidrPart* part) {
  YamlMap map(node, fault);
  map.Get("implementer", &part->implementer, ReadWhole);
  map.Get("part", &part->part, ReadWhole);
  map.End();
}

void ReadRange(const YAML::Node& node, YamlFault* fault, std::pair<uint32_t, uint32_t>* range) {
  std::vector<uint32_t> ends;
  ReadList<uint32_t>(node, fault, &ends, ReadWhole);
  if (ends.size() != 2 || ends[0] > ends[1]) return fault->Value(node, "must be [first, last]");
  *range = {ends[0], ends[1]};
}

void ReadX86Family(const YAML::Node& node, YamlFault* fault, X86Family* family) {
  YamlMap map(node, fault);
  map.Get("vendor", &family->vendor, ReadText);
  map.Get("family", &family->family, ReadWhole);
  map.GetList("models", &family->models, ReadRange);
  map.End();
}

void ReadMatch(const YAML::Node& node, YamlFault* fault, MatchRule* match) {
  YamlMap map(node, fault);
  map.Get("arch", &match->arch, ReadText);
  map.GetList("midr", &match->midr, ReadMidrPart);
  map.GetList("x86", &match->x86, ReadX86Family);
  map.GetList<std::string>("hints", &match->hints, ReadText);
  map.GetList<std::string>("isa", &match->isa, ReadText);
  map.End();
}

void ReadCoreClass(const YAML::Node& node, YamlFault* fault, CoreClass* cores) {
  YamlMap map(node, fault);
  map.Get("name", &cores->name, ReadText);
  map.Get("microarchitecture", &cores->microarchitecture, ReadText);
  map.Get("count", &cores->count, ReadWholeOrUnknown);
  map.Get("max_mhz", &cores->max_mhz, ReadWholeOrUnknown);
  map.Get("smt", &cores->smt, ReadWhole);
  map.End();
}

void ReadNotedWord(const YAML::Node& node, YamlFault* fault, NotedWord* word) {
  YamlMap map(node, fault);
  map.Get("word", &word->word, ReadText);
  map.Get("note", &word->note, ReadText);
  map.End();
}

void ReadCache(const YAML::Node& node, YamlFault* fault, SheetCache* cache) {
  static constexpr uint32_t kKinds[] = {HY_CACHE_DATA, HY_CACHE_INSTRUCTION, HY_CACHE_UNIFIED};
  YamlMap map(node, fault);
  map.Get("level", &cache->level, ReadWhole);
  cache->kind = kKinds[map.GetOneOf("type", {"data", "instruction", "unified"})];
  map.Get("kib", &cache->kib, ReadWholeOrUnknown);
  map.Get("line_bytes", &cache->line_bytes, ReadWholeOrUnknown);
  map.GetOneOf("per", {"core", "pair", "cluster", "ccx", "node", "chip", "drawer"});
  map.Get("per", &cache->per, ReadText);
  map.GetOptional("class", &cache->core_class, ReadText);
  map.End();
}

void ReadMemory(const YAML::Node& node, YamlFault* fault, SheetMemory* memory) {
  YamlMap map(node, fault);
  map.Get("name", &memory->name, ReadText);
  map.GetList<std::string>("when_model_contains", &memory->when_model_contains, ReadText);
  map.Get("channels", &memory->channels, ReadWholeOrUnknown);
  map.Get("type", &memory->type, ReadText);
  map.Get("mt_s", &memory->mt_s, ReadWholeOrUnknown);
  map.Get("bus_bits", &memory->bus_bits, ReadWholeOrUnknown);
  map.Get("theoretical_gb_s", &memory->theoretical_gb_per_s, ReadNumberOrUnknown);
  map.End();
}

void ReadNuma(const YAML::Node& node, YamlFault* fault, std::vector<uint32_t>* nodes_per_socket) {
  std::string note;
  YamlMap map(node, fault);
  if (const YAML::Node* const nodes = map.Take("nodes_per_socket", true)) {
    const bool unknown = nodes->IsScalar() && nodes->Scalar() == "unknown";
    if (!unknown) ReadList<uint32_t>(*nodes, fault, nodes_per_socket, ReadWhole);
  }
  map.Get("note", &note, ReadText);
  map.End();
}

void ReadPages(const YAML::Node& node, YamlFault* fault, std::vector<uint32_t>* base_bytes) {
  std::string note;
  YamlMap map(node, fault);
  map.GetList<uint32_t>("base_bytes", base_bytes, ReadWhole);
  map.Get("note", &note, ReadText);
  map.End();
}

void ReadShare(const YAML::Node& node, YamlFault* fault, double* min_ok_share) {
  std::string reason;
  YamlMap map(node, fault);
  map.Get("min_ok_share", min_ok_share, ReadNumber);
  map.Get("reason", &reason, ReadText);
  map.End();
  if (*min_ok_share >= 1) fault->At(node.Mark(), "min_ok_share must be below 1");
}

void ReadVectorBits(const YAML::Node& node, YamlFault* fault,
                    std::vector<std::pair<std::string, uint32_t>>* bits) {
  YamlMap(node, fault).GetAll<uint32_t>(bits, ReadWhole);
}

/// Of a source only the form is checked here: whether each fact has one is tools/check_chips.py's.
void ReadSource(const YAML::Node& node, YamlFault* fault, std::string* title) {
  std::vector<std::string> what;
  std::string url;
  bool opened = false;
  YamlMap map(node, fault);
  map.GetList<std::string>("what", &what, ReadText);
  map.Get("title", title, ReadText);
  map.Get("url", &url, ReadText);
  map.Get("opened", &opened, ReadFlag);
  map.End();
}

void ReadChecked(const YAML::Node& node, YamlFault* fault, ChipSheet* sheet) {
  YamlMap map(node, fault);
  map.GetOneOf("how", {"hardware", "emulation", "none"});
  map.Get("how", &sheet->checked_how, ReadText);
  map.Get("model", &sheet->checked_model, ReadAnyText);
  map.Get("note", &sheet->checked_note, ReadText);
  map.End();
}

void ReadSheet(const YAML::Node& root, YamlFault* fault, ChipSheet* sheet) {
  std::vector<std::string> sources;
  YamlMap map(root, fault);
  uint32_t schema = 0;
  map.Get("schema", &schema, ReadWhole);
  if (schema != 1) fault->At(root.Mark(), "'schema' must be 1, the version that this reader knows");
  map.Get("id", &sheet->id, ReadText);
  map.Get("name", &sheet->name, ReadText);
  sheet->kind = static_cast<SheetKind>(map.GetOneOf("kind", {"generic", "family", "chip"}));
  map.Get("match", &sheet->match, ReadMatch);
  map.GetList("core_classes", &sheet->core_classes, ReadCoreClass);
  map.GetList<std::string>("isa", &sheet->isa, ReadText);
  map.GetList("isa_optional", &sheet->isa_optional, ReadNotedWord);
  map.GetList("isa_absent", &sheet->isa_absent, ReadNotedWord);
  map.Get("vector_bits", &sheet->vector_bits, ReadVectorBits);
  map.GetList("caches", &sheet->caches, ReadCache);
  map.GetList("memory", &sheet->memory, ReadMemory);
  map.Get("numa", &sheet->nodes_per_socket, ReadNuma);
  map.Get("pages", &sheet->base_page_bytes, ReadPages);
  const bool share = map.GetOptional("bandwidth", &sheet->min_ok_share, ReadShare);
  map.Get("checked", sheet, ReadChecked);
  map.GetList<std::string>("sources", &sources, ReadSource);
  map.End();
  const bool known = std::any_of(
      sheet->memory.begin(), sheet->memory.end(),
      [](const SheetMemory& memory) { return memory.theoretical_gb_per_s.has_value(); });
  if (share != known) {
    fault->At(root.Mark(), "'bandwidth' must be there exactly when a theoretical_gb_s is known");
  }
}

bool IsId(absl::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

/// What the types cannot say: a sheet that passes here cannot claim every machine of its kind.
absl::Status CheckMeaning(const ChipSheet& sheet) {
  const MatchRule& match = sheet.match;
  if (sheet.kind != SheetKind::kGeneric && match.midr.empty() && match.x86.empty() &&
      match.hints.empty()) {
    return absl::InvalidArgumentError("only a generic sheet may match by ISA words alone");
  }
  for (const std::string& word : match.isa) {
    if (std::find(sheet.isa.begin(), sheet.isa.end(), word) == sheet.isa.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("match asks for '", word, "', which isa does not promise"));
    }
  }
  for (const SheetCache& cache : sheet.caches) {
    const bool known =
        cache.core_class.empty() ||
        std::any_of(sheet.core_classes.begin(), sheet.core_classes.end(),
                    [&cache](const CoreClass& one) { return one.name == cache.core_class; });
    if (!known) {
      return absl::InvalidArgumentError(
          absl::StrCat("a cache of the unknown core class '", cache.core_class, "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ChipSheet> ParseChipSheet(const std::string& path, const std::string& text) {
  ChipSheet sheet;
  HY_RETURN_IF_ERROR(ReadYaml(path, text, [&sheet](const YAML::Node& root, YamlFault* fault) {
    ReadSheet(root, fault, &sheet);
  }));
  if (sheet.id != fs::path(path).stem().string() || !IsId(sheet.id)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the id '", sheet.id, "' is not the file's name, or not [a-z0-9_]+"));
  }
  const absl::Status meaning = CheckMeaning(sheet);
  if (!meaning.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", meaning.message()));
  return sheet;
}

absl::StatusOr<ChipSheet> ReadChipSheet(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostYamlBytes + 1, '\0');  // one more than is accepted: a longer one is refused
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(absl::StrCat("cannot read the sheet ", path));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  return ParseChipSheet(path, text);
}

absl::StatusOr<std::vector<ChipSheet>> ReadChipSheets(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".yaml" && IsId(path.stem().string())) paths.push_back(path.string());
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the folder of chip sheets ", folder, ": ", error.message()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ChipSheet> sheets;
  for (const std::string& path : paths) {
    HY_ASSIGN_OR_RETURN(ChipSheet sheet, ReadChipSheet(path));
    sheets.push_back(std::move(sheet));
  }
  return sheets;
}

absl::StatusOr<ChipSheet> FindChipSheet(const std::vector<ChipSheet>& sheets,
                                        absl::string_view id) {
  std::vector<absl::string_view> ids;
  for (const ChipSheet& sheet : sheets) {
    if (sheet.id == id) return sheet;
    ids.push_back(sheet.id);
  }
  return absl::NotFoundError(
      absl::StrCat("no chip sheet '", id, "'; there are: ", absl::StrJoin(ids, " ")));
}

absl::string_view SheetKindName(SheetKind kind) {
  static constexpr absl::string_view kNames[] = {"generic", "family", "chip"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace halyard::facts
