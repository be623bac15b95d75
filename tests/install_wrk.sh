#!/bin/sh
# The rates of the gate are measured with wrk, a load generator in C. Install it where we may (Debian, as root), else say how.
set -eu

command -v wrk >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "handover: installing for the benchmarks (once): wrk"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends wrk >/dev/null && exit 0
fi
echo "handover: the benchmarks of the gate need wrk. Install it (Debian: apt-get install wrk; Fedora: dnf install wrk; macOS: brew install wrk)." >&2
exit 1
