#!/usr/bin/env python3
"""Checks the machine fixtures in ports/sim_topology/fixtures.

Each fixture is a text image of the parts of /sys and /proc that the topology
reader looks at (format: fixtures/README.md). The fixtures are the oracle of the
reader's unit tests, so a slip in one of them would be tested *into* the reader.
This program is a second, independent reading of the same text: it expands every
file, looks for contradictions that no real kernel would show, computes each
@expect key again from the raw files, and exits non-zero on any difference.

It shares no code with the C++ reader, on purpose. Standard library only.

usage: check_fixtures.py [--list NAME] [--explain] [FILE.topo ...]
"""

import argparse
import functools
import pathlib
import re
import sys

FIXTURE_DIR = pathlib.Path(__file__).resolve().parent.parent / "ports/sim_topology/fixtures"

EXPECT_KEYS = {
    "pus", "pus_all", "cores", "packages", "nodes", "nodes_cpu", "nodes_mem",
    "classes", "llcs", "smt", "budget_milli", "page_bytes", "huge", "clusters",
    "source",
}
ARCHES = {"aarch64", "x86_64", "riscv64", "ppc64le", "s390x", "armv7l", "loongarch64"}

# Two CPUs of one core type whose top clocks differ by less than this are one
# performance class: boost bins differ by a few per cent between equal cores.
CLASS_FREQ_GAP = 0.10

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


class Fault(Exception):
    pass


# ---- text format ---------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def parse_list(text):
    """Linux list format, '0-1,4,6-7' -> (0, 1, 4, 6, 7). Strict: rising, no overlap."""
    text = text.strip()
    if not text:
        return ()
    out = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not match:
            raise Fault(f"bad list '{text}'")
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last < first or (out and first <= out[-1]):
            raise Fault(f"list '{text}' is not in rising order")
        out.extend(range(first, last + 1))
    return tuple(out)


def substitute(value, index):
    """Replaces {} {+N} {-N} {/N} {%N} {*N} by arithmetic on the index."""

    def one(match):
        op = match[1]
        if not op:
            return str(index)
        n = int(match[2])
        result = {
            "+": lambda: index + n,
            "-": lambda: index - n,
            "*": lambda: index * n,
            "/": lambda: index // n,
            "%": lambda: index % n,
        }[op]()
        if result < 0:
            raise Fault(f"'{match[0]}' is negative at index {index}")
        return str(result)

    return re.sub(r"\{(?:([-+*/%])(\d+))?\}", one, value)


class Fixture:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.meta = {}
        self.isa = []  # (cpu list or None, [words])
        self.files = {}
        self.comment_head = []
        self._read(path.read_text(encoding="ascii"))
        # ".../cpu12/cache/index0/level" -> ids[".../cpu"] has 12, ids[".../cpu12/cache/index"] has 0.
        self._ids = {}
        for name in self.files:
            for match in re.finditer(r"(\d+)/", name):
                self._ids.setdefault(name[: match.start()], set()).add(int(match[1]))

    def _put(self, path, value):
        if path.startswith("/") or " " in path or "//" in path:
            raise Fault(f"bad path '{path}'")
        groups = re.findall(r"\{[^}]*\}", path)
        if len(groups) > 1:
            raise Fault(f"more than one brace group in '{path}'")
        if not groups:
            if re.search(r"\{(?:[-+*/%]\d+)?\}", value):
                raise Fault(f"index used in the value of '{path}', which has no brace group")
            self.files[path] = value
            return
        for index in parse_list(groups[0][1:-1]):
            self.files[path.replace(groups[0], str(index))] = substitute(value, index)

    def _read(self, text):
        lines = text.split("\n")
        if lines[-1] != "":
            raise Fault("no newline at the end of the file")
        lines.pop()
        in_head = True
        i = 0
        while i < len(lines):
            line = lines[i]
            where = f"line {i + 1}"
            i += 1
            if line.rstrip() != line:
                raise Fault(f"{where}: trailing space")
            if in_head and line.startswith("#"):
                self.comment_head.append(line)
                continue
            in_head = False
            if not line or line.startswith("#"):
                continue
            try:
                if line.startswith("@"):
                    self._directive(line)
                elif " <<" in line and " = " not in line:
                    path, _, tag = line.partition(" <<")
                    body = []
                    while i < len(lines) and lines[i] != tag:
                        body.append(lines[i])
                        i += 1
                    if i == len(lines):
                        raise Fault(f"'{tag}' never comes")
                    i += 1
                    self._put(path, "\n".join(body))
                elif " = " in line:
                    path, _, value = line.partition(" = ")
                    self._put(path, value)
                elif line.endswith(" ="):
                    self._put(line[:-2], "")
                else:
                    raise Fault("neither a directive nor 'path = value' nor 'path <<TAG'")
            except Fault as fault:
                raise Fault(f"{where}: {fault}") from None

    def _directive(self, line):
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word == "@isa" or word.startswith("@isa["):
            cpus = None if word == "@isa" else parse_list(word[5:-1])
            if cpus is None and any(c is None for c, _ in self.isa):
                raise Fault("second default @isa")
            self.isa.append((cpus, [w for w in rest.split(",") if w]))
            return
        if word not in ("@machine", "@arch", "@page_bytes", "@expect"):
            raise Fault(f"unknown directive {word}")
        if word == "@expect":
            expect = self.meta.setdefault("@expect", {})
            for item in rest.split():
                key, eq, value = item.partition("=")
                if key not in EXPECT_KEYS or not eq or not value:
                    raise Fault(f"bad @expect item '{item}'")
                if key in expect:
                    raise Fault(f"@expect key '{key}' given twice")
                expect[key] = value
            return
        if word in self.meta:
            raise Fault(f"second {word}")
        self.meta[word] = rest

    # ---- lookups -----------------------------------------------------------------

    def get(self, path):
        return self.files.get(path)

    def int(self, path):
        text = self.get(path)
        return None if text is None else int(text)

    def list(self, path):
        text = self.get(path)
        if text is None:
            return None
        try:
            return parse_list(text)
        except Fault as fault:
            raise Fault(f"{path}: {fault}") from None

    def ids(self, prefix):
        """Numbers N for which some file lies under prefix + N + '/'."""
        return tuple(sorted(self._ids.get(prefix, ())))

    def status_list(self, field):
        status = self.get("proc/self/status")
        if status is None:
            return None
        for line in status.split("\n"):
            key, _, value = line.partition(":")
            if key == field:
                return parse_list(value)
        return None

    def cpu_isa(self, cpu):
        words = ()
        for cpus, isa in self.isa:
            if cpus is None or cpu in cpus:
                words = tuple(isa)
        return words


# ---- facts, computed again -----------------------------------------------------


def online_cpus(fx):
    return fx.list(f"{CPU}/online")


def cpuinfo_cpus(fx):
    """Numbered processors of /proc/cpuinfo ('processor : N', or 'processor N:' on s390x)."""
    text = fx.get("proc/cpuinfo") or ""
    found = re.findall(r"^processor\s*(?::\s*(\d+)|(\d+):)", text, re.M)
    return tuple(sorted(int(a or b) for a, b in found))


def allowed_cpus(fx, online):
    allowed = fx.status_list("Cpus_allowed_list")
    if allowed is None:
        return online
    return tuple(c for c in allowed if c in set(online))


def siblings(fx, cpu):
    got = fx.list(f"{CPU}/cpu{cpu}/topology/thread_siblings_list")
    return got if got else (cpu,)


def package(fx, cpu):
    """A name for the package: its CPU list, for the id alone repeats between the books
    of an s390x machine; the id only where the kernel gives no list."""
    base = f"{CPU}/cpu{cpu}/topology"
    for name in ("package_cpus_list", "core_siblings_list"):
        if fx.get(f"{base}/{name}") is not None:
            return fx.list(f"{base}/{name}")
    return fx.get(f"{base}/physical_package_id")


def top_cache(fx, cpu):
    """The set of CPUs that share this CPU's highest data-holding cache, or None."""
    best = None
    prefix = f"{CPU}/cpu{cpu}/cache/index"
    for index in fx.ids(prefix):
        if fx.get(f"{prefix}{index}/type") == "Instruction":
            continue
        level = fx.int(f"{prefix}{index}/level")
        shared = fx.list(f"{prefix}{index}/shared_cpu_list")
        if best is None or level > best[0]:
            best = (level, shared)
    return best


def pmu_type(fx, cpu):
    for name in ("cpu_core", "cpu_atom", "cpu_lowpower"):
        cpus = fx.list(f"sys/devices/{name}/cpus")
        if cpus and cpu in cpus:
            return name
    return ""


def class_count(fx, online):
    capacities = {fx.get(f"{CPU}/cpu{c}/cpu_capacity") for c in online}
    if None not in capacities:
        return len(capacities)
    if capacities != {None}:
        raise Fault("cpu_capacity is given for some CPUs only")
    by_kind = {}
    for cpu in online:
        part = fx.get(f"{CPU}/cpu{cpu}/regs/identification/midr_el1") or ""
        freq = fx.int(f"{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq") or 0
        by_kind.setdefault((pmu_type(fx, cpu), part), set()).add(freq)
    total = 0
    for freqs in by_kind.values():
        last = None
        for freq in sorted(freqs):
            if last is None or freq > last * (1 + CLASS_FREQ_GAP):
                total += 1
            last = freq
    return total


def mounts(fx):
    """(root, mount point, fs type, super options) of each mount."""
    out = []
    for line in (fx.get("proc/self/mountinfo") or "").split("\n"):
        if not line:
            continue
        left, sep, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if not sep or len(fields) < 6 or len(tail) != 3:
            raise Fault(f"bad mountinfo line '{line}'")
        out.append((fields[3], fields[4], tail[0], tail[2].split(",")))
    return out


def group_dirs(root, point, path):
    """Directories from the group itself up to the mount, as visible through this mount."""
    if root != "/":
        if path == root or path.startswith(root + "/"):
            path = path[len(root):]
        elif path != "/":
            path = ""  # A group outside the mount: only the mount's own root is visible.
    parts = [p for p in path.split("/") if p]
    return [(point + "/" + "/".join(parts[:n])).strip("/") for n in range(len(parts), -1, -1)]


def quota_milli(fx):
    """Tightest CPU quota over the group and all its visible ancestors; None when unlimited."""
    best = None
    for line in (fx.get("proc/self/cgroup") or "").split("\n"):
        if not line:
            continue
        number, controllers, path = line.split(":", 2)
        for root, point, kind, options in mounts(fx):
            v2 = number == "0" and controllers == "" and kind == "cgroup2"
            v1 = kind == "cgroup" and "cpu" in controllers.split(",") and "cpu" in options
            if not (v1 or v2):
                continue
            for folder in group_dirs(root, point, path):
                if v2:
                    text = fx.get(f"{folder}/cpu.max")
                    if text is None:
                        continue
                    quota, period = text.split()
                    if quota == "max":
                        continue
                else:
                    quota = fx.get(f"{folder}/cpu.cfs_quota_us")
                    period = fx.get(f"{folder}/cpu.cfs_period_us")
                    if quota is None:
                        continue
                    if int(quota) < 0:
                        continue
                milli = int(quota) * 1000 // int(period)
                best = milli if best is None else min(best, milli)
    return best


def facts(fx):
    out = {"page_bytes": fx.meta["@page_bytes"]}
    online = online_cpus(fx)
    if online is None:
        out["source"] = "procfs"
        online = cpuinfo_cpus(fx)
    else:
        out["source"] = "sysfs"
    allowed = allowed_cpus(fx, online)
    out["pus_all"] = len(online)
    out["pus"] = len(allowed)
    quota = quota_milli(fx)
    out["budget_milli"] = min(len(allowed) * 1000, quota if quota is not None else 10**9)

    huge = {
        int(m[1]) * 1024
        for m in (re.match(r"sys/kernel/mm/hugepages/hugepages-(\d+)kB/", p) for p in fx.files)
        if m
    }
    if out["source"] == "sysfs":
        out["huge"] = ",".join(str(h) for h in sorted(huge)) or "none"
        cores = {siblings(fx, c) for c in online}
        out["cores"] = len(cores)
        out["smt"] = max(len(c) for c in cores)
        out["packages"] = len({package(fx, c) for c in online})
        clusters = {
            (package(fx, c), fx.get(f"{CPU}/cpu{c}/topology/cluster_id")) for c in online
        }
        # -1 and its 16-bit form 65535 are how kernels spell "no cluster here".
        known = {c for c in clusters if c[1] is not None and int(c[1]) not in (-1, 65535)}
        out["clusters"] = len(known)
        tops = {top_cache(fx, c) for c in online}
        out["llcs"] = len({t[1] for t in tops if t is not None})
        out["classes"] = class_count(fx, online)
        nodes = fx.list(f"{NODE}/online")
        if nodes is None:  # A kernel without NUMA: one node that holds everything.
            out.update(nodes=1, nodes_cpu=1, nodes_mem=1)
        else:
            out["nodes"] = len(nodes)
            out["nodes_cpu"] = sum(1 for n in nodes if fx.list(f"{NODE}/node{n}/cpulist"))
            out["nodes_mem"] = sum(1 for n in nodes if node_mem_kb(fx, n) > 0)
    return {k: str(v) for k, v in out.items()}


def node_mem_kb(fx, node):
    text = fx.get(f"{NODE}/node{node}/meminfo")
    if text is None:
        raise Fault(f"node{node} has no meminfo")
    match = re.search(r"^Node (\d+) MemTotal:\s+(\d+) kB$", text, re.M)
    if not match or int(match[1]) != node:
        raise Fault(f"node{node}/meminfo has no MemTotal line of its own")
    return int(match[2])


# ---- contradictions no real kernel shows ---------------------------------------


def check_cpus(fx, faults):
    online = online_cpus(fx)
    if online is None:
        return
    if not online:
        faults.append("no CPU online")
        return
    present = fx.list(f"{CPU}/present")
    possible = fx.list(f"{CPU}/possible")
    if present is None or possible is None:
        faults.append("cpu/present and cpu/possible are needed beside cpu/online")
        return
    if not set(online) <= set(present) <= set(possible):
        faults.append("online, present and possible CPUs do not nest")
    isolated = fx.list(f"{CPU}/isolated")
    if isolated and not set(isolated) <= set(possible):
        faults.append("isolated CPUs that are not possible")
    for cpu in fx.ids(f"{CPU}/cpu"):
        if cpu not in present:
            faults.append(f"files of cpu{cpu}, which is not present")
        flag = fx.get(f"{CPU}/cpu{cpu}/online")
        if flag is not None and (flag == "1") != (cpu in online):
            faults.append(f"cpu{cpu}/online contradicts cpu/online")
        if cpu not in online:
            for what in ("topology", "cache"):
                if any(p.startswith(f"{CPU}/cpu{cpu}/{what}/") for p in fx.files):
                    faults.append(f"cpu{cpu} is offline but has {what}")
    allowed = fx.status_list("Cpus_allowed_list")
    if allowed is None:
        faults.append("proc/self/status has no Cpus_allowed_list")
    elif not set(allowed) & set(online):
        faults.append("no allowed CPU is online")
    for path in ("isolated", "online", "present", "possible"):
        text = fx.get(f"{CPU}/{path}")
        if text and len(text.split(",")) != len(re_list(parse_list(text)).split(",")):
            faults.append(f"cpu/{path} is not in the kernel's shortest form")

    packages = {}
    for cpu in online:
        base = f"{CPU}/cpu{cpu}/topology"
        for name in ("core_id", "physical_package_id", "thread_siblings_list"):
            if fx.get(f"{base}/{name}") is None:
                faults.append(f"cpu{cpu} has no topology/{name}")
        packages.setdefault(fx.get(f"{base}/physical_package_id"), []).append(cpu)

    def same_set(name, members_of, label):
        done = set()
        for cpu in online:
            got = fx.list(f"{CPU}/cpu{cpu}/topology/{name}")
            if got is None:
                continue
            if cpu not in got:
                faults.append(f"cpu{cpu} is not in its own {name}")
            if got in done:  # Already compared for each of its members.
                continue
            done.add(got)
            if not set(got) <= set(online):
                faults.append(f"cpu{cpu}: {name} names an offline CPU")
                continue
            for other in got:
                if fx.list(f"{CPU}/cpu{other}/topology/{name}") != got:
                    faults.append(f"{name} of cpu{cpu} and cpu{other} differ")
                    break
            # s390x numbers the sockets of each book from 1 again.
            repeats = fx.meta["@arch"] == "s390x"
            if members_of and got != tuple(members_of(cpu)) and not (repeats and set(got) < set(members_of(cpu))):
                faults.append(f"cpu{cpu}: {name} is not the {label}")

    package_of = {c: p for p, cs in packages.items() for c in cs}
    same_set("thread_siblings_list", None, "")
    same_set("core_siblings_list", lambda c: packages[package_of[c]], "CPUs of its package id")
    same_set("package_cpus_list", lambda c: packages[package_of[c]], "CPUs of its package id")

    for cpu in online:
        ids = {fx.get(f"{CPU}/cpu{c}/topology/core_id") for c in siblings(fx, cpu)}
        pkgs = {package_of.get(c) for c in siblings(fx, cpu)}
        if len(ids) != 1 or len(pkgs) != 1:
            faults.append(f"the threads of cpu{cpu}'s core differ in core_id or package")


def re_list(numbers):
    """[0, 1, 4] -> '0-1,4', as the kernel prints lists."""
    out = []
    for n in numbers:
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def check_caches(fx, faults):
    online = online_cpus(fx) or ()
    done = set()
    for cpu in online:
        prefix = f"{CPU}/cpu{cpu}/cache/index"
        for index in fx.ids(prefix):
            kind = fx.get(f"{prefix}{index}/type")
            level = fx.get(f"{prefix}{index}/level")
            shared = fx.list(f"{prefix}{index}/shared_cpu_list")
            size = fx.get(f"{prefix}{index}/size")
            here = f"cpu{cpu}/cache/index{index}"
            if kind not in ("Data", "Instruction", "Unified") or not level or shared is None:
                faults.append(f"{here} lacks type, level or shared_cpu_list")
                continue
            if size is not None and not re.fullmatch(r"\d+K", size):
                faults.append(f"{here}: size '{size}' is not in the kernel's form")
            if cpu not in shared or not set(shared) <= set(online):
                faults.append(f"{here}: shared_cpu_list lacks its CPU or names an offline one")
                continue
            if not set(siblings(fx, cpu)) <= set(shared):
                faults.append(f"{here}: threads of one core do not share it")
            if (level, kind, shared) in done:  # Already asked each of its members.
                continue
            done.add((level, kind, shared))
            for other in shared:
                # The index of the same cache may differ between CPUs of a hybrid
                # machine, so the twin is sought by level and type.
                twins = [
                    fx.list(f"{CPU}/cpu{other}/cache/index{i}/shared_cpu_list")
                    for i in fx.ids(f"{CPU}/cpu{other}/cache/index")
                    if fx.get(f"{CPU}/cpu{other}/cache/index{i}/level") == level
                    and fx.get(f"{CPU}/cpu{other}/cache/index{i}/type") == kind
                ]
                if shared not in twins:
                    faults.append(f"{here}: cpu{other} does not share it back")
                    break


def check_nodes(fx, faults):
    nodes = fx.list(f"{NODE}/online")
    dirs = fx.ids(f"{NODE}/node")
    if nodes is None:
        if dirs:
            faults.append("node files without node/online")
        return
    if dirs != nodes:
        faults.append(f"node/online is {nodes} but there are files of nodes {dirs}")
        return
    online = online_cpus(fx) or ()
    seen = []
    for node in nodes:
        cpus = fx.list(f"{NODE}/node{node}/cpulist")
        if cpus is None:
            faults.append(f"node{node} has no cpulist")
            continue
        seen += cpus
        row = (fx.get(f"{NODE}/node{node}/distance") or "").split()
        if len(row) != len(nodes):
            faults.append(f"node{node}/distance has {len(row)} entries for {len(nodes)} nodes")
        elif row[nodes.index(node)] != "10":
            faults.append(f"node{node}/distance to itself is not 10")
        elif any(int(d) < 10 for d in row):
            faults.append(f"node{node}/distance has an entry below 10")
    if tuple(sorted(seen)) != online:
        faults.append("the nodes' cpulists do not cover the online CPUs exactly once")
    with_cpu = tuple(n for n in nodes if fx.list(f"{NODE}/node{n}/cpulist"))
    with_mem = tuple(n for n in nodes if node_mem_kb(fx, n) > 0)
    for name, want in (("has_cpu", with_cpu), ("has_memory", with_mem), ("has_normal_memory", with_mem)):
        got = fx.list(f"{NODE}/{name}")
        if got is not None and got != want:
            faults.append(f"node/{name} is {got}, the nodes themselves say {want}")
    mems = fx.status_list("Mems_allowed_list")
    if mems is None or not set(mems) & set(with_mem):
        faults.append("Mems_allowed_list names no node with memory")

    total = re.search(r"^MemTotal:\s+(\d+) kB$", fx.get("proc/meminfo") or "", re.M)
    if total and int(total[1]) != sum(node_mem_kb(fx, n) for n in nodes):
        faults.append("proc/meminfo MemTotal is not the sum over the nodes")


def check_pages(fx, faults):
    base = int(fx.meta["@page_bytes"])
    if base & (base - 1) or base < 4096:
        faults.append(f"page_bytes {base} is not a power of two of at least 4096")
    sums, tops = {}, {}
    for path, value in fx.files.items():
        match = re.search(r"hugepages-(\d+)kB/(\w+)$", path)
        if not match:
            continue
        size, name = int(match[1]), match[2]
        if size & (size - 1) or size * 1024 <= base:
            faults.append(f"{path}: not a power of two above the base page")
        if path.startswith(NODE):
            sums[(size, name)] = sums.get((size, name), 0) + int(value)
        else:
            tops[(size, name)] = int(value)
    for key, value in sums.items():
        if key not in tops:
            faults.append(f"hugepages-{key[0]}kB is on a node but not in sys/kernel/mm")
        elif tops[key] != value:
            faults.append(f"hugepages-{key[0]}kB/{key[1]}: nodes sum to {value}, system says {tops[key]}")
    for (size, name), value in tops.items():
        if name == "free_hugepages" and value > tops.get((size, "nr_hugepages"), 0):
            faults.append(f"hugepages-{size}kB: more free than there are")
    pmd = fx.int("sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
    if pmd is not None and (pmd & (pmd - 1) or pmd <= base):
        faults.append("hpage_pmd_size is not a power of two above the base page")
    if pmd is not None and base == 65536 and fx.meta["@arch"] == "aarch64" and pmd != 512 << 20:
        faults.append("with 64 K pages on arm64 the PMD size is 512 M")


def check_meta(fx, faults):
    for word in ("@machine", "@arch", "@page_bytes", "@expect"):
        if not fx.meta.get(word):
            raise Fault(f"no {word}")
    if fx.meta["@arch"] not in ARCHES:
        faults.append(f"unknown @arch {fx.meta['@arch']}")
    if not any(cpus is None for cpus, _ in fx.isa):
        faults.append("no default @isa line")
    head = " ".join(fx.comment_head).lower()
    if "invented" not in head and "captured" not in head and "modelled" not in head:
        faults.append("the head comment does not say captured, modelled or invented")
    online = online_cpus(fx)
    for cpus, _ in fx.isa:
        if cpus is not None and online is not None and not set(cpus) <= set(online):
            faults.append("@isa names CPUs that are not online")
    for need in ("pus", "pus_all", "budget_milli", "page_bytes", "source"):
        if need not in fx.meta["@expect"]:
            faults.append(f"@expect lacks '{need}'")


def check(path):
    faults = []
    try:
        fx = Fixture(path)
        check_meta(fx, faults)
        check_cpus(fx, faults)
        check_caches(fx, faults)
        check_nodes(fx, faults)
        check_pages(fx, faults)
        computed = facts(fx)
        for key, want in fx.meta["@expect"].items():
            if key not in computed:
                faults.append(f"@expect {key}={want}, but the files do not tell")
            elif computed[key] != want:
                faults.append(f"@expect {key}={want}, the files say {computed[key]}")
    except UnicodeDecodeError:
        return None, ["not ASCII"]
    except (Fault, ValueError) as fault:
        return None, faults + [str(fault)]
    return fx, faults


def main():
    parser = argparse.ArgumentParser(description="Checks the machine fixtures.")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--explain", action="store_true", help="print the computed facts")
    parser.add_argument("--list", metavar="NAME", help="print every expanded file of one fixture")
    args = parser.parse_args()
    if args.list:
        for path, value in sorted(Fixture(FIXTURE_DIR / f"{args.list}.topo").files.items()):
            print(f"{path}: {value!r}")
        return 0
    paths = args.files or sorted(FIXTURE_DIR.glob("*.topo"))
    if not paths:
        print(f"no fixtures under {FIXTURE_DIR}", file=sys.stderr)
        return 1
    bad = 0
    for path in paths:
        fx, faults = check(path)
        print(f"{'FAULT' if faults else 'ok':6}{path.stem}" + (f" ({len(fx.files)} files)" if fx else ""))
        for fault in faults:
            print(f"      {fault}")
        if args.explain and fx:
            print("      " + " ".join(f"{k}={v}" for k, v in sorted(facts(fx).items())))
        bad += bool(faults)
    print(f"{len(paths)} fixtures, {bad} with faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
