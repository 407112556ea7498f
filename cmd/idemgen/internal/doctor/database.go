package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/pgtable"
)

// ledger is what the database says of a partition.
type ledger struct {
	operate.Tail
	stream  int32
	topicID string
}

const (
	oldestPostgres = 140000
	mostSkew       = 2 * time.Second
	// mostKept is how much WAL an idle slot may keep.
	mostKept = 1 << 30
)

func (e *examination) database(ctx context.Context) {
	switch {
	case e.NoAnswer != nil:
		e.add(Failure, "database", reach, "%v", e.NoAnswer)
		return
	case e.Database == nil:
		e.add(Skipped, "database", "set $DATABASE_URL, or write --database", "not examined: no address was given")
		return
	}
	if err := within(ctx, e.planted); err != nil {
		if !errors.Is(err, errPlanted) {
			e.failed("planted", err)
		}
		return
	}
	for _, look := range []struct {
		about string
		at    func(context.Context) error
	}{
		{"database", e.server}, {"database", e.unfit}, {"migrations", e.runtimeTables}, {"tables", e.tables}, {"role", e.role},
		{"slots", e.slots}, {"ledgers", e.positions},
		{"processes", e.processes},
	} {
		err := within(ctx, look.at)
		if err != nil {
			e.failed(look.about, err)
		}
		if err != nil && within(ctx, e.Database.Ping) != nil { // nothing else will be answered either
			return
		}
	}
	if err := e.keys(ctx); err != nil {
		e.failed("keys", err)
	}
}

// within runs one part of the examination, with a limit of time.
func within(ctx context.Context, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return look(ctx)
}

// errPlanted says that the examination would call what somebody planted.
var errPlanted = errors.New("planted objects")

func (e *examination) planted(ctx context.Context) error {
	planted, err := pgtable.Planted(ctx, e.Database)
	if planted != nil {
		e.differences("planted", "", []pgtable.Difference{*planted})
		return errPlanted
	}
	return err
}

const serverSQL = `SELECT current_setting('server_version'), current_setting('server_version_num')::int, clock_timestamp(),
	current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on', current_setting('synchronous_commit')`

// server is what a database says of itself.
type server struct {
	version string
	number  int
	durable bool   // fsync and full_page_writes are on
	commit  string // synchronous_commit
	took    time.Duration
	skew    time.Duration // of its clock from that of this machine
}

func (e *examination) server(ctx context.Context) error {
	var s server
	var clock time.Time
	asked := time.Now()
	if err := e.Database.QueryRow(ctx, serverSQL).Scan(&s.version, &s.number, &clock, &s.durable, &s.commit); err != nil {
		return err
	}
	s.took = time.Since(asked)
	s.skew = clock.Sub(asked.Add(s.took / 2))
	e.judgeServer(s)
	return nil
}

func (e *examination) judgeServer(s server) {
	if s.number < oldestPostgres {
		e.add(Failure, "database", "the runtime needs Postgres 14 or later", "PostgreSQL %s", s.version)
	} else {
		e.add(OK, "database", "", "PostgreSQL %s answers in %s", s.version, s.took.Round(100*time.Microsecond))
	}
	switch {
	case !s.durable:
		e.add(Failure, "durability", "turn both on: what is committed must survive a crash", "a commit of this server may be lost: fsync or full_page_writes is off")
	case s.commit == "off": // only by default: session.Relied turns it on
		e.add(Warning, "durability", "turn it on for the database, and for roles that use these programs",
			"synchronous_commit is off by default: the service turns it on in its own sessions, but a crash may undo what operators' commands and other programs have committed")
	}
	if s.skew.Abs() > mostSkew {
		e.add(Warning, "clock", "windows, leases and ages are by the database's clock; let NTP set both", "the clock of the database is %s from that of this machine", s.skew.Round(time.Millisecond))
	}
}

// differences adds what a comparison found.
func (e *examination) differences(about, well string, found []pgtable.Difference) {
	for _, d := range found {
		e.add(Failure, about, d.Advice, "%s", d.Text)
	}
	if len(found) == 0 {
		e.add(OK, about, "", "%s", well)
	}
}

// unfit says why no service can start on the database, if there is a reason.
func (e *examination) unfit(ctx context.Context) error {
	why, err := pgtable.Unfit(ctx, e.Database)
	if why != nil {
		e.differences("database", "", []pgtable.Difference{*why})
	}
	return err
}

func (e *examination) runtimeTables(ctx context.Context) error {
	parts := slices.Collect(maps.Keys(e.Schema))
	incomplete, err := pgtable.Incomplete(ctx, e.Database, parts)
	if err != nil {
		return err
	}
	if incomplete != nil {
		e.differences("migrations", "", []pgtable.Difference{*incomplete})
		return nil
	}
	have, why, err := pgtable.Versions(ctx, e.Database)
	if err != nil {
		return err
	}
	if why == nil {
		why = pgtable.Outdated(have, e.Schema)
	}
	if why != nil {
		e.differences("migrations", "", []pgtable.Difference{*why})
		return nil
	}
	lacks, err := pgtable.Needs(ctx, e.Database, "", parts)
	e.differences("migrations", "the tables of the runtime are there: "+strings.Join(slices.Sorted(maps.Keys(e.Schema)), ", "), lacks)
	return err
}

func (e *examination) tables(ctx context.Context) error {
	var found []pgtable.Difference
	var handled []*pgtable.Want
	for i := range e.Tables {
		d, err := pgtable.Compare(ctx, e.Database, &e.Tables[i])
		if err != nil {
			return err
		}
		if found = append(found, d...); d == nil && e.Tables[i].Handled {
			handled = append(handled, &e.Tables[i])
		}
	}
	e.differences("tables", count(len(e.Tables), "table")+" in the database as in the spec", found)
	for _, of := range handled {
		if err := e.handlerRights(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

func (e *examination) role(ctx context.Context) error {
	var role string
	var all, creates bool
	err := e.Database.QueryRow(ctx, `SELECT current_user::text, rolsuper, has_schema_privilege(current_schema(), 'CREATE')
		FROM pg_roles WHERE rolname = current_user`).Scan(&role, &all, &creates)
	advice := manual("Roles and rights") + ": it has the statements for a role of the service's own"
	switch {
	case err != nil:
	case all:
		e.add(Warning, "role", advice, "%s is a superuser: give the service a role with fewer rights", role)
	case creates:
		e.add(Warning, "role", advice, "%s may create tables, which a service does not need", role)
	default:
		e.add(OK, "role", "", "%s is not a superuser, and may not create tables", role)
	}
	return err
}

// lacks reports whether a table of the runtime is missing, or hidden.
func (e *examination) lacks(ctx context.Context, table string) bool {
	var there bool
	err := e.Database.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL AND has_table_privilege(to_regclass($1), 'SELECT')`, table).Scan(&there)
	return err == nil && !there
}

const slotsSQL = `SELECT slot_name::text, coalesce(wal_status, ''), coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint
	FROM pg_replication_slots WHERE database = current_database() AND NOT active AND NOT pg_is_in_recovery() ORDER BY 1`

// slots are those of Debezium and its like: one that nobody reads fills the disk.
func (e *examination) slots(ctx context.Context) error {
	rows, err := e.Database.Query(ctx, slotsSQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name, status string
		var kept int64
		if err := rows.Scan(&name, &status, &kept); err != nil {
			return err
		}
		e.judgeSlot(name, status, kept)
	}
	return rows.Err()
}

// judgeSlot is about a slot that nobody reads, and how many bytes of WAL it keeps.
func (e *examination) judgeSlot(name, status string, kept int64) {
	switch {
	case status == "lost":
		e.add(Failure, "slot "+name, "recreate the slot and its connector; changes that it had not read are in the tables only", "it lost its place in the WAL")
	case kept > mostKept:
		e.add(Failure, "slot "+name, "start its connector, or drop the slot: otherwise the disk fills up", "nothing reads it, and it keeps %d MiB of WAL", kept>>20)
	default:
		e.add(Warning, "slot "+name, "start its connector, or drop the slot", "nothing reads it")
	}
}

// positions reads the ledgers, for the checks of topics.
func (e *examination) positions(ctx context.Context) error {
	if e.lacks(ctx, "idem_ledger") {
		return nil
	}
	ledgers, all, err := e.readLedgers(ctx)
	if err != nil {
		return err
	}
	e.ledgers = ledgers
	for _, s := range all {
		if !s.Former && s.Tail == nil && !s.NoLedger() {
			e.add(Failure, fmt.Sprintf("ledger %s/%d", s.Topic, s.Partition), manual("ledger-gone"), "the database knows this partition, and its ledger has no rows: they were deleted, or the database was restored to an earlier state")
		}
	}
	return nil
}

var lostAdvice = manual("The database lost commits")

// readLedgers reads the ledgers of the consumer, and returns also what it read them from.
func (e *examination) readLedgers(ctx context.Context) (ledgers map[string]map[int32]ledger, all []operate.Status, err error) {
	if all, err = operate.List(ctx, e.Database, ""); err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(s operate.Status) bool { return s.Consumer != e.Consumer })
	ledgers = map[string]map[int32]ledger{}
	for _, s := range all {
		if s.Former || s.Tail == nil {
			continue
		}
		if ledgers[s.Topic] == nil {
			ledgers[s.Topic] = map[int32]ledger{}
		}
		ledgers[s.Topic][s.Partition] = ledger{*s.Tail, s.Stream, s.TopicID}
	}
	return ledgers, all, nil
}
