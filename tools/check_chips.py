#!/usr/bin/env python3
"""Validates the chip sheets in ports/chips against the schema in ports/chips/README.md.

Strict, as the C++ reader is: unknown keys, missing keys and wrong types are faults.
It also looks for what a schema cannot say: a word both present and absent, a
bandwidth that does not follow from channels and clock, a fact without a source,
two sheets that claim the same machine.

Needs PyYAML (Debian: python3-yaml). Exit status: 0 all good, 1 faults, 2 no PyYAML.

usage: check_chips.py [FILE.yaml ...]
"""

import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    print("check_chips.py needs PyYAML: apt-get install python3-yaml", file=sys.stderr)
    sys.exit(2)

CHIP_DIR = pathlib.Path(__file__).resolve().parent.parent / "ports/chips"
UNKNOWN = "unknown"

# Every ISA word a sheet may use. A closed list, so that a slip of the pen ("asimdp")
# is a fault here and not a feature that never matches.
WORDS = {
    "x86_64": """cx16 lahf_lm popcnt sse sse2 pni ssse3 sse4_1 sse4_2 avx avx2 bmi1 bmi2 f16c fma abm
        movbe xsave avx_vnni avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi
        avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq avx512_bf16 avx512_fp16
        avx512_vp2intersect amx_tile amx_int8 amx_bf16""",
    "aarch64": """fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt
        fcma lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb
        paca pacg dcpodp sve2 flagm2 frint svei8mm svebf16 i8mm bf16 dgh rng bti sme""",
    "riscv64": """rv64imafdc v zicbom zicboz zicntr zicond zicsr zifencei zihintpause zihpm zfh zba zbb
        zbc zbs zkt zvfh zvkt zvbb zvfbfwma""",
    "ppc64le": "altivec vsx arch_2_06 arch_2_07 arch_3_00 arch_3_1 mma htm",
    "s390x": """esan3 zarch stfle msa ldisp eimm dfp edat etf3eh highgprs te vx vxd vxe vxe2 gs sie
        nnpa""",
    "armv7l": "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt lpae crc32 asimddp",
    "loongarch64": "cpucfg lam ual fpu lsx lasx lvz",
}
WORDS = {arch: set(words.split()) for arch, words in WORDS.items()}


class UniqueKeys(yaml.SafeLoader):
    """A loader that refuses a key given twice; plain YAML silently keeps the last one."""


def unique_map(loader, node, deep=False):
    seen = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=deep)
        if key in seen:
            raise yaml.YAMLError(f"key '{key}' given twice, line {key_node.start_mark.line + 1}")
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep)


UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, unique_map)


# ---- field kinds: each returns None or what is wrong ---------------------------


def text(value):
    return None if isinstance(value, str) and value.strip() else "must be a text"


def any_text(value):
    return None if isinstance(value, str) else "must be a text (it may be empty)"


def whole(value):
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return None if good else "must be a whole number"


def whole_or_unknown(value):
    return None if value == UNKNOWN or whole(value) is None and value > 0 else "must be a number above 0, or unknown"


def number_or_unknown(value):
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return None if good or value == UNKNOWN else "must be a number above 0, or unknown"


def one_of(*choices):
    return lambda value: None if value in choices else f"must be one of {', '.join(map(str, choices))}"


def list_of(kind):
    def check(value):
        if not isinstance(value, list):
            return "must be a list"
        for i, item in enumerate(value):
            wrong = kind(item)
            if wrong:
                return f"item {i + 1}: {wrong}"
        return None

    return check


def record(optional=(), **fields):
    def check(value):
        if not isinstance(value, dict):
            return "must be a map"
        for key in value:
            if key not in fields:
                return f"unknown key '{key}'"
        for key, kind in fields.items():
            if key not in value:
                if key in optional:
                    continue
                return f"key '{key}' is missing"
            wrong = kind(value[key])
            if wrong:
                return f"{key}: {wrong}"
        return None

    return check


def either(first, second):
    return lambda value: None if first(value) is None or second(value) is None else first(value)


def word_map(value):
    if not isinstance(value, dict) or any(text(k) or whole(v) for k, v in value.items()):
        return "must be a map of ISA words to whole numbers"
    return None


def model_range(value):
    good = isinstance(value, list) and len(value) == 2 and not any(map(whole, value)) and value[0] <= value[1]
    return None if good else "must be [first, last]"


NOTED = list_of(record(word=text, note=text))
KEYS = dict(
    schema=one_of(1),
    id=text,
    name=text,
    kind=one_of("generic", "family", "chip"),
    match=record(
        arch=one_of(*WORDS),
        midr=list_of(record(implementer=whole, part=whole)),
        x86=list_of(record(vendor=text, family=whole, models=list_of(model_range))),
        hints=list_of(text),
        isa=list_of(text),
    ),
    core_classes=list_of(
        record(name=text, microarchitecture=text, count=whole_or_unknown, max_mhz=whole_or_unknown, smt=whole)
    ),
    isa=list_of(text),
    isa_optional=NOTED,
    isa_absent=NOTED,
    vector_bits=word_map,
    caches=list_of(
        record(
            optional=("class",),
            level=whole,
            type=one_of("data", "instruction", "unified"),
            kib=whole_or_unknown,
            line_bytes=whole_or_unknown,
            per=one_of("core", "pair", "cluster", "ccx", "node", "chip", "drawer"),
            **{"class": text},
        )
    ),
    memory=list_of(
        record(
            name=text,
            when_model_contains=list_of(text),
            channels=whole_or_unknown,
            type=text,
            mt_s=whole_or_unknown,
            bus_bits=whole_or_unknown,
            theoretical_gb_s=number_or_unknown,
        )
    ),
    numa=record(nodes_per_socket=either(list_of(whole), one_of(UNKNOWN)), note=text),
    pages=record(base_bytes=list_of(whole), note=text),
    bandwidth=record(min_ok_share=number_or_unknown, reason=text),
    checked=record(how=one_of("hardware", "emulation", "none"), model=any_text, note=text),
    sources=list_of(record(what=list_of(text), title=text, url=text, opened=one_of(True, False))),
)
SHEET = record(optional=("bandwidth",), **KEYS)
# Facts that need a source whenever they are not empty.
SOURCED = (
    "match", "core_classes", "isa", "isa_optional", "isa_absent", "vector_bits", "caches",
    "memory", "numa", "pages",
)


def meaning_faults(sheet, path):
    faults = []
    if sheet["id"] != path.stem or not re.fullmatch(r"[a-z0-9_]+", sheet["id"]):
        faults.append(f"id '{sheet['id']}' is not the file name, or not [a-z0-9_]+")

    words = WORDS[sheet["match"]["arch"]]
    isa = set(sheet["isa"])
    optional = {item["word"] for item in sheet["isa_optional"]}
    absent = {item["word"] for item in sheet["isa_absent"]}
    for word in sorted((isa | optional | absent | set(sheet["vector_bits"])) - words):
        faults.append(f"ISA word '{word}' is not known for {sheet['match']['arch']}")
    for one, two in ((isa, absent), (isa, optional), (optional, absent)):
        for word in sorted(one & two):
            faults.append(f"ISA word '{word}' is in two lists")
    if len(isa) != len(sheet["isa"]):
        faults.append("isa names a word twice")
    for word in sorted(set(sheet["match"]["isa"]) - isa):
        faults.append(f"match.isa asks for '{word}', which isa does not promise")
    for word in sorted(set(sheet["vector_bits"]) - isa):
        faults.append(f"vector_bits of '{word}', which isa does not promise")
    for word, bits in sheet["vector_bits"].items():
        if bits < 64 or bits & (bits - 1):
            faults.append(f"vector_bits of '{word}' is not a power of two of at least 64")

    generic = sheet["kind"] == "generic"
    if generic and (sheet["memory"] or sheet["core_classes"] or "bandwidth" in sheet):
        faults.append("a generic sheet carries no cores and no bandwidth")
    if not generic and not sheet["core_classes"]:
        faults.append("no core_classes")
    match = sheet["match"]
    if not generic and not (match["midr"] or match["x86"] or match["hints"]):
        faults.append("only a generic sheet may match by ISA words alone")

    classes = {item["name"] for item in sheet["core_classes"]}
    for cache in sheet["caches"]:
        if "class" in cache and cache["class"] not in classes:
            faults.append(f"cache of an unknown core class '{cache['class']}'")
        line = cache["line_bytes"]
        if line != UNKNOWN and line & (line - 1):
            faults.append("a cache line that is no power of two")

    known = False
    for item in sheet["memory"]:
        gb_s = item["theoretical_gb_s"]
        known |= gb_s != UNKNOWN
        parts = [item["channels"], item["mt_s"], item["bus_bits"]]
        if UNKNOWN in parts:
            continue
        want = parts[0] * parts[1] * parts[2] / 8 / 1000
        if gb_s == UNKNOWN or abs(want - gb_s) > 0.01 * want:
            faults.append(f"memory '{item['name']}': {gb_s} GB/s, channels and clock give {want:.1f}")
    if ("bandwidth" in sheet) != known:
        faults.append("bandwidth must be there exactly when a theoretical_gb_s is known")
    if "bandwidth" in sheet and not 0 < sheet["bandwidth"]["min_ok_share"] < 1:
        faults.append("min_ok_share must lie between 0 and 1")

    for size in sheet["pages"]["base_bytes"]:
        if size < 4096 or size & (size - 1):
            faults.append(f"base page {size} is not a power of two of at least 4096")
    if (sheet["checked"]["how"] == "emulation") != bool(sheet["checked"]["model"]):
        faults.append("checked.model must be there exactly when how is emulation")

    covered = set()
    for source in sheet["sources"]:
        for what in source["what"]:
            if what not in KEYS:
                faults.append(f"source for '{what}', which is no key")
        covered |= set(source["what"])
        if not re.match(r"https://[^\s]+$", source["url"]):
            faults.append(f"source '{source['title']}' has no https address")
    for key in SOURCED:
        empty = not sheet[key] or key == "numa" and sheet[key]["nodes_per_socket"] == UNKNOWN
        if not empty and key not in covered:
            faults.append(f"no source for '{key}'")
    return faults


def check(path):
    try:
        raw = path.read_text(encoding="ascii")
        sheet = yaml.load(raw, Loader=UniqueKeys)
    except UnicodeDecodeError:
        return None, ["not ASCII"]
    except yaml.YAMLError as error:
        return None, [str(error)]
    wrong = SHEET(sheet)
    if wrong:
        return None, [wrong]
    return sheet, meaning_faults(sheet, path)


def identity(sheet):
    """What a machine would have to look like to fit; two sheets may not share it."""
    match = sheet["match"]
    return (sheet["kind"], match["arch"], repr(match["midr"]), repr(match["x86"]),
            repr(match["hints"]), tuple(sorted(match["isa"])))


def main():
    paths = [pathlib.Path(p) for p in sys.argv[1:]] or sorted(CHIP_DIR.glob("*.yaml"))
    if not paths:
        print(f"no sheets under {CHIP_DIR}", file=sys.stderr)
        return 1
    bad, seen = 0, {}
    for path in paths:
        sheet, faults = check(path)
        if sheet:
            other = seen.setdefault(identity(sheet), path.stem)
            if other != path.stem:
                faults.append(f"matches the same machines as {other}")
        print(f"{'FAULT' if faults else 'ok':6}{path.stem}")
        for fault in faults:
            print(f"      {fault}")
        bad += bool(faults)
    print(f"{len(paths)} sheets, {bad} with faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
