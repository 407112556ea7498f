#!/usr/bin/env bash
# confluent-kafka-go is a C library with Go around it. Without a C compiler the go command
# switches cgo off and says "undefined: kafka...", which helps nobody: look first. It installs one
# only if it is asked to, by INSTALL=1 or in CI.
set -euo pipefail
compiler=$(go env CC)
if command -v "${compiler%% *}" >/dev/null 2>&1; then
	exit 0
fi
if [ "${INSTALL:-}${CI:-}" != "" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "no C compiler found: installing gcc" >&2
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev >/dev/null
	exit 0
fi
case $(uname -s) in
Darwin) fix="xcode-select --install" ;;
*) fix="apt-get install -y gcc libc6-dev   (or your system's gcc package)" ;;
esac
echo "the Kafka client needs a C compiler, and $compiler was not found. Install one:" >&2
echo "  $fix" >&2
echo "As root on a system with apt-get, INSTALL=1 before the command has it installed." >&2
exit 1
