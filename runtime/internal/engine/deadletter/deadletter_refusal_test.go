package deadletter_test

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
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
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{}.Consumer(t, db))
			idemtest.Exec(t, db, sql)
			_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "nonsense", "put 3 3"))
			halted := rig.WantError[*idem.HaltedError](t, err)
			rig.Want(t, "code", halted.Code, halt.LetterRefused)
			rig.Want(t, "offset", halted.Offset, 1)
			rig.Want(t, "the command that passes it", halted.Ways[1].String(), "idemgen stream set --consumer test --topic "+rig.Topic+" --partition 0 --to 2 --reason dead-letter-refused")
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
		})
	}
}

// A value of more than 16 MiB is not copied into its dead letter, which says how long it was.
func TestLetterOfAVeryLongRecordKeepsNoRecord(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	batch := rig.Records(0, "put 1 1", "put 2 2")
	batch[0].Value = make([]byte, 16<<20+1)
	rig.Apply(t, w, batch)
	rig.Want(t, "letters", rig.Letters(t, db), "0 too_large")
	rig.Want(t, "reason", rig.Query(t, db, `SELECT reason FROM idem_dead_letter`), "too_large: the payload has 16777217 bytes, limits.max_payload is 1024")
	rig.Want(t, "bytes kept", rig.Query(t, db, `SELECT coalesce(octet_length(record), 0)::text FROM idem_dead_letter`), "0")
	rig.Want(t, "rows", rig.Table(t, db), "2=2")
}
