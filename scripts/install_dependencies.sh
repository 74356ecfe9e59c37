#!/usr/bin/env bash
# Installs what building needs, by apt-get (Debian 12, Ubuntu 24.04), as root or through sudo.
#   scripts/install_dependencies.sh [--test] [--demo]
#     --test   also what scripts/test.sh needs: clang with its run-time libraries, clang-format, ccache,
#              Python's headers and venv, the data set of the Python examples
#     --demo   also the data set of scripts/demo.sh
# When everything is there already it returns at once and touches nothing.
set -euo pipefail

# "a|b": the first name that is installed or that this release has. "?" in front: left out where it cannot be had.
packages=(g++ cmake ninja-build "pkg-config|pkgconf" libtbb-dev libhwy-dev "?libembree-dev" libboost-dev libeigen3-dev
          libcli11-dev nlohmann-json3-dev libfmt-dev libgtest-dev libgmock-dev libbenchmark-dev zlib1g-dev)
for option in "$@"; do
  case $option in
    # clang-format by version: another one formats differently.
    --test) packages+=(clang "libclang-rt-dev|libclang-rt-14-dev" clang-format-14 "?ccache" python3 python3-dev
                       python3-venv ca-certificates dataset-fashion-mnist) ;;
    --demo) packages+=(dataset-fashion-mnist) ;;
    *) echo "install_dependencies.sh: unknown option $option (known: --test, --demo)" >&2; exit 2 ;;
  esac
done

is_installed() { [[ $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) == *" installed" ]]; }
has_candidate() { [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p') == [0-9]* ]]; }
is_satisfied() {
  local name
  for name in ${1//|/ }; do
    if is_installed "$name"; then return 0; fi
  done
  return 1
}

missing=()
for package in "${packages[@]}"; do
  is_satisfied "${package#\?}" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "All ${#packages[@]} packages are installed."
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "install_dependencies.sh: no apt-get here; install what corresponds to: ${missing[*]}" >&2
  exit 1
fi
as_root=(env DEBIAN_FRONTEND=noninteractive)
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies.sh: run it as root, or install sudo; missing: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo "${as_root[@]}")
fi
apt() { "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 "$@" </dev/null; }
with_retry() {
  "$@" && return 0
  echo "Failed; once more in 10 seconds: $*" >&2
  sleep 10
  "$@"
}

echo "Missing: ${missing[*]}"
# One repository that cannot be reached must not stop the others.
with_retry apt update || echo "apt-get update failed; going on with the package lists that are here." >&2
selected=()
for package in "${missing[@]}"; do
  name=
  for alternative in $(tr '|' ' ' <<<"${package#\?}"); do
    if has_candidate "$alternative"; then name=$alternative; break; fi
  done
  if [[ -n $name ]]; then
    selected+=("$name")
  elif [[ $package == \?* ]]; then
    echo "${package#\?} is not to be had here; going on without it."
  else
    echo "install_dependencies.sh: no package ${package} in the configured repositories" >&2
    exit 1
  fi
done
if ((${#selected[@]} > 0)); then
  with_retry apt install -y --no-install-recommends "${selected[@]}"
fi
