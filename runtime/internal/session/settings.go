package session

import (
	"strconv"
	"time"
)

// Setting is one setting of the server that statements, codecs or the protocol rely on.
type Setting struct {
	Name  string
	Value string
	Why   string // docs/production.md lists the settings that concern users
	how   how
}

// how determines how a setting is made.
type how int

const (
	always  how = iota
	known       // only if the server has it: older servers do not
	wanted      // if the server accepts it: it is not read back, and a rejection is not an error
	differs     // only if the value differs: the role may not be allowed to set it
)

// Limits are the timeouts of the spec.
type Limits struct {
	Lock, Statement time.Duration
	Idle            time.Duration // a transaction that does nothing
	Transaction     time.Duration
}

// Relied returns every setting that the runtime relies on. docs/production.md describes them. All
// other settings are the user's, above all search_path and TimeZone: tables are the user's, and no
// statement of the runtime depends on a zone.
func Relied(l Limits) []Setting {
	return []Setting{
		{"client_encoding", "UTF8", "records hold UTF-8, and so do statements", always},
		{"standard_conforming_strings", "on", "a handler's literals may hold a backslash", always},
		{"DateStyle", "ISO", "the driver reads dates in a handler's results", always},
		{"IntervalStyle", "postgres", "the driver reads intervals in a handler's results", always},
		{"bytea_output", "hex", "the driver reads bytes in a handler's results", always},
		{"extra_float_digits", "1", "the driver reads numbers in a handler's results, all digits of them", always},
		{"array_nulls", "on", "the driver writes NULL in a handler's arrays", always},
		{"default_transaction_isolation", "read committed", "a batch that waited sees what it waited for", always},
		{"default_transaction_deferrable", "off", "a transaction begins at once", always},
		{"synchronous_commit", "on", "an acknowledged commit outlives a crash", always},
		{"session_replication_role", "origin", "foreign keys and triggers work", differs},
		{"row_security", "on", "a table's policies filter rows instead of failing the statement", always},
		{"exit_on_error", "off", "a rejected statement does not end the session", always},
		{"lock_timeout", millis(l.Lock), "no record is at fault for a wait for a lock", always},
		{"statement_timeout", millis(l.Statement), "a statement of a batch", always},
		{"transaction_timeout", millis(l.Transaction), "limits.batch_timeout, from PostgreSQL 17 on", known},
		{"idle_in_transaction_session_timeout", millis(l.Idle), "a call of a handler plus 5 seconds: a stalled client releases its locks", always},
		{"idle_session_timeout", "0", "a connection of the pool may wait", always},
		{"application_name", "idemgen", "it identifies a stalled transaction as the runtime's", always},
		{"client_connection_check_interval", "5000", "a statement whose client is gone ends", wanted},
		{"tcp_user_timeout", "20000", "a client that is gone is detected", wanted},
		{"tcp_keepalives_idle", "10", "a client that is gone is detected", wanted},
		{"tcp_keepalives_interval", "5", "a client that is gone is detected", wanted},
		{"tcp_keepalives_count", "3", "a client that is gone is detected", wanted},
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// With returns settings with other values for some of them.
func With(settings []Setting, values map[string]string) []Setting {
	var all []Setting
	for _, s := range settings {
		if v, ok := values[s.Name]; ok {
			s.Value = v
		}
		all = append(all, s)
	}
	return all
}
