#!/usr/bin/env bash
# confluent-kafka-go is a C library with Go around it. Without a C compiler the go command
# switches cgo off and says "undefined: kafka...", which helps nobody: look first.
set -euo pipefail
compiler=$(go env CC)
if command -v "${compiler%% *}" >/dev/null 2>&1; then
	exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "no C compiler found: installing gcc" >&2
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev >/dev/null
	exit 0
fi
case $(uname -s) in
Darwin) fix="xcode-select --install" ;;
*) fix="sudo apt-get install -y gcc libc6-dev   (or your system's gcc package)" ;;
esac
echo "the Kafka client needs a C compiler, and $compiler was not found. Install one:" >&2
echo "  $fix" >&2
exit 1
