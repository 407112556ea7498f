#!/bin/sh
# Tests the console in Chromium, which it installs if it may; without it the tests say how.
set -eu
cd "$(dirname "$0")"
if ! command -v chromium chromium-browser google-chrome chrome > /dev/null && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
	apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium > /dev/null || true
fi
GOWORK=off exec go test -count=1 ./... "$@"
