#!/bin/sh
# The journeys drive a real Chromium. Install it where we may (Debian, as root), else say how.
set -eu

for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "handover: installing chromium for the browser tests (once)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    for name in chromium-headless-shell chromium; do # the former is the lighter build, and newer
        apt-get install -y -qq --no-install-recommends "$name" >/dev/null && exit 0
    done
fi
echo "handover: the browser tests need Chromium. Install it (Debian: apt-get install chromium; Fedora: dnf install chromium;" \
    "macOS: brew install --cask chromium), or leave them out: make test TESTS=\"tests -m 'not journey'\"" >&2
exit 1
