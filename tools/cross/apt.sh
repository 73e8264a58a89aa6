# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after lib.sh: a private apt root per architecture. Packages of a foreign architecture (or
# of a newer suite) are downloaded and unpacked without touching the host's package state. Adding a
# foreign architecture to the host itself upgrades or removes packages of the host, so it is not an
# option (libyaml-cpp-dev, for one, is not co-installable on Debian 12).

APT_OPTIONS=()

# shellcheck source=/dev/null
host_os() { (. /etc/os-release && echo "${ID:-unknown}"); }
# shellcheck source=/dev/null
host_codename() { (. /etc/os-release && echo "${VERSION_CODENAME:-unknown}"); }

# URI of the distribution's own archive, from apt's configuration. HALYARD_APT_URI overrides it.
archive_uri() {
  local uri
  if [[ -n ${HALYARD_APT_URI:-} ]]; then
    echo "$HALYARD_APT_URI"
    return
  fi
  # shellcheck disable=SC2016  # apt expands these, not the shell.
  uri=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN) $(LABEL)' \
    'Created-By: Packages' | awk -v c="$(host_codename)" '$2 == c && $3 == $4 { print $1; exit }')
  [[ -n $uri ]] || die 3 "apt lists no archive of $(host_codename); run 'apt-get update' first," \
    "or set HALYARD_APT_URI and HALYARD_APT_SUITE"
  echo "$uri"
}

# archive_suite ARCH: which suite to take an architecture from. HALYARD_APT_SUITE overrides it.
archive_suite() {
  local codename
  codename=$(host_codename)
  if [[ -n ${HALYARD_APT_SUITE:-} ]]; then
    echo "$HALYARD_APT_SUITE"
  elif [[ $(host_os) != debian ]]; then
    die 3 "$(host_os) is not Debian: its archive seldom carries foreign architectures." \
      "Install debian-archive-keyring, then set HALYARD_APT_URI to a Debian mirror and" \
      "HALYARD_APT_SUITE=bookworm (riscv64: trixie)"
  elif [[ $codename == bookworm && $1 == riscv64 ]]; then
    echo trixie # Debian 12 has no riscv64.
  else
    echo "$codename"
  fi
}

# apt_private DIR DEB_ARCH SUITE: makes or refreshes the private root, sets APT_OPTIONS.
apt_private() {
  local dir=$1 arch=$2 suite=$3 uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  local signed=""
  uri=$(archive_uri)
  [[ ! -r $keyring ]] || signed=" signed-by=$keyring"
  mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
  : >"$dir/status"
  echo "deb [arch=$arch$signed] $uri $suite main" >"$dir/sources.list"
  APT_OPTIONS=(
    -o "Dir::State=$dir/state" -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir/cache"
    -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o "APT::Architecture=$arch"
    -o "APT::Architectures=$arch" -o APT::Install-Recommends=false -o Debug::NoLocking=1
    -o APT::Sandbox::User=root -o Acquire::Retries=3 -o Acquire::Languages=none
  )
  apt-get "${APT_OPTIONS[@]}" update -qq || die 3 "cannot read suite $suite ($arch)"
}

# Downloads packages with all that they depend on into the private root's cache.
apt_fetch_closure() {
  apt-get "${APT_OPTIONS[@]}" install -y -qq --download-only "$@" >/dev/null ||
    die 3 "cannot download: $*"
}

# apt_fetch_one DIR PACKAGE: downloads exactly one package; prints the path of its file.
apt_fetch_one() {
  local dir=$1 package=$2
  mkdir -p "$dir"
  rm -f "$dir/$package"_*.deb
  (cd "$dir" && apt-get "${APT_OPTIONS[@]}" download -qq "$package" >/dev/null) || return 1
  echo "$dir/$package"_*.deb
}

# Version number of the suite's default GCC, hence of its libstdc++.
apt_gcc_version() {
  apt-cache "${APT_OPTIONS[@]}" depends g++ | sed -n 's/^ *Depends: g++-\([0-9]*\)$/\1/p' | head -n1
}
