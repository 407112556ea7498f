#!/usr/bin/env bash
# What make test tests. With cgo that is everything. Without, a package is left out if it, or a test
# of it, imports confluent-kafka-go.
#
#   tested.sh PACKAGES...  names the packages that can be tested here
#   tested.sh              says what cannot be, if anything
set -euo pipefail
cd "$(dirname "$0")/.."
module=github.com/idemgen/idemgen
without() { # the packages that need cgo
	if [ "$(go env CGO_ENABLED)" = 1 ]; then
		return
	fi
	go list -e -test -f '{{range .Deps}}{{if eq . "github.com/confluentinc/confluent-kafka-go/v2/kafka"}}{{$.ImportPath}}{{end}}{{end}}' $module/... |
		sed 's/ .*//; s/\.test$//; s/_test$//' | sort -u
}
left=$(without)
if [ $# -gt 0 ]; then
	go list "$@" | grep -v -F -x "$left"
	exit 0
fi
if [ "$left" != "" ]; then
	files=$(grep -rl --include='*_test.go' '^//go:build cgo$' cmd examples generator internal runtime schema scripts)
	echo "not tested, because there is no C compiler:" $(echo "$left" | sed "s,^$module/,,") $files \
		"- to test them, install one (apt-get install gcc libc6-dev) and repeat make test"
fi
