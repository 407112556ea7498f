package spec

import (
	"strings"
	"testing"
)

// Each format of migrations is applied by its own tool, and a service that is there is not told to
// remove anything.
func TestInitSaysHowMigrationsAreApplied(t *testing.T) {
	for format, want := range map[string]string{
		"sql":            `  for f in migrations/*.sql; do psql`,
		"goose":          `  goose -dir migrations -table goose_idemgen postgres "$DATABASE_URL" up`,
		"golang_migrate": `  migrate -path migrations -database "$DATABASE_URL" up`,
	} {
		module(t, map[string]string{"idemgen.yaml": spec + "migrations: {format: " + format + "}\n"})
		_, _, stderr := run(t, "init")
		if !strings.Contains(stderr, want) || strings.Contains(stderr, "rm -r") || !strings.Contains(stderr, "  go run ./cmd/order-projector ") {
			t.Errorf("%s:\n%s", format, stderr)
		}
	}
}
