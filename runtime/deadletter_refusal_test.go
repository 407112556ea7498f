package idem_test

import (
	"testing"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Somebody added to idem_dead_letter what refuses a letter: the partition halts before that
// record, with the command that passes it, and what stands before it has taken effect.
func TestDeadLetterThatIsRefusedHalts(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"a check":          `ALTER TABLE idem_dead_letter ADD CONSTRAINT c CHECK (offs <> 1)`,
		"a unique index":   `CREATE UNIQUE INDEX ON idem_dead_letter (stream) WHERE offs = 1; INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) SELECT stream, 1, 99, 'x', '' FROM idem_stream`,
		"a column needed":  `ALTER TABLE idem_dead_letter ADD COLUMN who text NOT NULL`,
		"a reason refused": `ALTER TABLE idem_dead_letter ADD CONSTRAINT c CHECK (reason NOT LIKE 'decode%')`,
		"a trigger":        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'; CREATE TRIGGER refuse BEFORE INSERT ON idem_dead_letter FOR EACH ROW EXECUTE FUNCTION refuse()`,
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			w := own(t, service{}.consumer(t, db))
			idemtest.Exec(t, db, sql)
			_, err := w.Apply(t.Context(), records(0, "put 1 1", "nonsense", "put 3 3"))
			halted := wantError[*idem.HaltedError](t, err)
			want(t, "code", halted.Code, halt.LetterRefused)
			want(t, "offset", halted.Offset, 1)
			want(t, "the command that passes it", halted.Pass != "", true)
			want(t, "rows", table(t, db), "1=1")
		})
	}
}
