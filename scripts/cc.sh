#!/usr/bin/env bash
# confluent-kafka-go is a C library with Go around it. Without a C compiler the go command switches
# cgo off and says "undefined: kafka...", so this looks for one first.
#
#   cc.sh             fails if there is no C compiler
#   cc.sh COMMAND...  runs a command that can do without: then without cgo, and with franz-go
#
# As root with apt-get, it first installs a compiler if INSTALL or CI is set.
set -euo pipefail
compiler=$(go env CC)
found() { command -v "${compiler%% *}" >/dev/null 2>&1; }
if [ "${CGO_ENABLED:-}" != 0 ] && ! found && [ "${INSTALL:-}${CI:-}" != "" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "no C compiler found: installing gcc with apt-get" >&2
	(apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev) >/dev/null || true
fi
if [ $# -gt 0 ]; then
	if [ "${CGO_ENABLED:-}" = 0 ] || ! found; then
		echo "no C compiler ($compiler) in use: cgo is off, and the Kafka client is franz-go, which needs none" >&2
		export CGO_ENABLED=0 FAULTS_LIBRARY=franz
	fi
	exec "$@"
fi
if found; then
	exit 0
fi
case $(uname -s) in
Darwin) fix="xcode-select --install" ;;
*) fix="apt-get install -y gcc libc6-dev   (or your system's gcc package)" ;;
esac
echo "the Kafka client librdkafka needs a C compiler, and $compiler was not found. Install one:" >&2
echo "  $fix" >&2
echo "As root on a system with apt-get, INSTALL=1 before the command installs it." >&2
exit 1
