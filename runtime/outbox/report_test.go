package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A relay reports what holds back its events, where operators see it, and takes the report back
// when it ends. Without the table of reports it works as well.
func TestARelayReportsItself(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	idemtest.Migrate(t, db, filepath.Join("..", "..", "templates", "sql"))
	rejects := func(cause outbox.Cause) {
		broker.answers(func(outbox.Record) error {
			return &outbox.RefusedError{Err: errors.New("the topic does not exist"), Cause: cause}
		})
	}
	rejects("")
	write(t, db, "a", "1")
	_, end := relay(t, db, broker, nil)
	said := func(sql string) string {
		var text string
		if err := db.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	until(t, "the report names the rejection", func() bool {
		return said(`SELECT coalesce(string_agg(concat(report #>> '{relay,leads}', ' ', p ->> 'code', ' ', position('the topic does not exist' IN p ->> 'reason') > 0, ' ', (p ->> 'since')::timestamptz > now() - interval '1 minute'), ','), '')
			FROM idem_process, jsonb_array_elements(report -> 'problems') p WHERE consumer = ''`) == "true refused t t"
	})
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the name of the process", said(`SELECT name FROM idem_process`), fmt.Sprintf("%s, process %d", host, os.Getpid()))
	for cause, want := range map[outbox.Cause]string{
		outbox.NoTopic:  `topic-missing create topic outbox.event.user: the relay then sends its events by itself`,
		outbox.TooLarge: `too-large raise max.message.bytes of topic outbox.event.user, and the limit in the settings of the relay's producer: the payload of this event has 1 bytes`,
		"":              `refused remove the cause that the error names: the relay retries the event`,
	} {
		rejects(cause)
		until(t, "the report has a remedy for "+want, func() bool {
			return said(`SELECT coalesce(string_agg(concat_ws(' ', p ->> 'code', p ->> 'do'), ','), '') FROM idem_process, jsonb_array_elements(report -> 'problems') p
				JOIN idem_outbox e ON e.id = (p #>> '{event,id}')::uuid WHERE p #>> '{event,topic}' = 'outbox.event.user' AND (p #>> '{event,bytes}')::int = octet_length(payload)`) == want
		})
	}
	broker.answers(func(outbox.Record) error { return errors.New("nobody answers") })
	until(t, "the time is not in the reason", func() bool {
		return said(`SELECT coalesce(string_agg(concat(p ->> 'code', ' ', p ->> 'reason'), ','), '') FROM idem_process, jsonb_array_elements(report -> 'problems') p`) == "broker the broker has accepted no events: nobody answers"
	})
	broker.answers(nil)
	until(t, "and then that all is sent", func() bool {
		return said(`SELECT coalesce(max(concat(report #>> '{relay,sent}', ' ', report ->> 'problems')), '') FROM idem_process`) == "1 []"
	})
	end()
	if n := said(`SELECT count(*)::text FROM idem_process`); n != "0" {
		t.Errorf("%s reports after the end", n)
	}
}

// A relay whose role lacks a right reports the GRANT after which it sends.
func TestARelayReportsTheRightThatIsMissing(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	idemtest.Migrate(t, db, filepath.Join("..", "..", "templates", "sql"))
	write(t, db, "a", "1")
	role := db.Config().ConnConfig.Database + "_relay"
	idemtest.Exec(t, db, `CREATE ROLE `+role+`; GRANT SELECT, UPDATE ON idem_outbox TO `+role+`; GRANT SELECT, INSERT, UPDATE, DELETE ON idem_process TO `+role)
	t.Cleanup(func() {
		_, _ = db.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role)
	})
	cfg := db.Config()
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SET ROLE `+role)
		return err
	}
	poor, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(poor.Close)
	_, end := relay(t, poor, broker, nil)
	defer end()
	const grant = `GRANT SELECT, UPDATE, DELETE ON idem_outbox TO `
	var reason, do string
	until(t, "the report names the right", func() bool {
		err := db.QueryRow(t.Context(), `SELECT p ->> 'reason', p ->> 'do' FROM idem_process, jsonb_array_elements(report -> 'problems') p WHERE p ->> 'code' = 'database'`).Scan(&reason, &do)
		return err == nil && strings.Contains(reason, "role "+role+" lacks a right on table idem_outbox: "+grant) && do == grant+`"`+role+`"`
	})
	idemtest.Exec(t, db, do)
	until(t, "the event is sent", func() bool { return broker.of("a") == "1" })
}
