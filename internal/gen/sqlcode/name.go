package sqlcode

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

const maxName = 63 // bytes that Postgres keeps of a name

// constraintName is the name of a constraint or index, made as Postgres makes it:
// table_columns_suffix. A name that Postgres would cut gets a hash of the full one.
func constraintName(table string, columns []*model.Column, suffix string) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.InDatabase())
	}
	return objectName(table, names, suffix)
}

func objectName(table string, columns []string, suffix string) string {
	full := strings.Join(append(append([]string{table}, columns...), suffix), "_")
	if len(full) <= maxName {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	tail := "_" + hex.EncodeToString(sum[:4]) + "_" + suffix
	return strings.TrimRight(strings.ToValidUTF8(full[:maxName-len(tail)], ""), "_") + tail
}
