package generator

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
)

var (
	notInEntry   = regexp.MustCompile(`[^a-z0-9]+`)
	isEntry      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,37}$`)
	refusedEntry = regexp.MustCompile(`^(null|true|false|idem_.*|pg_.*|tableoid|[cx]min|[cx]max|ctid)$`)
)

// entryName derives a valid name for the spec from a name in the database.
func entryName(name, prefix string, taken map[string]bool) string {
	key := name
	if !isEntry.MatchString(name) {
		key = strings.Trim(notInEntry.ReplaceAllString(strings.ToLower(name), "_"), "_")
	}
	if key == "" || key[0] < 'a' || refusedEntry.MatchString(key) {
		key = prefix + "_" + key
	}
	key = key[:min(len(key), 38)]
	for n, first := 2, key; taken[goname.Of(key)]; n++ {
		key = first + "_" + strconv.Itoa(n)
	}
	taken[goname.Of(key)] = true
	return key
}

// EntryOf returns the name that Describe gives a table, unless another table has it.
func EntryOf(table string) string { return entryName(table, "t", map[string]bool{}) }
