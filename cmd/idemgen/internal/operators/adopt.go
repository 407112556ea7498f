package operators

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/operate"
)

// adoptCommand holds what a service takes over from the program that it replaces.
func adoptCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Take over from another consumer",
		Long: `Takes over from another consumer. keys adopts the ids that it has processed, so duplicates of
its events have no effect. docs/adopt.md describes the whole move. To take over the position,
use start_from: committed and idem.WithGroup.`,
	}
	flags.define(cmd)
	command.AsJSON(cmd)
	cmd.AddCommand(adoptKeysCommand(&flags))
	noCompletions(cmd)
	return cmd
}

// adoptFlags are the flags of adopt keys.
type adoptFlags struct {
	from, source, spec string
	events             []string
	dry                bool
}

func adoptKeysCommand(flags *streamFlags) *cobra.Command {
	var f adoptFlags
	cmd := &cobra.Command{
		Use:   "keys --event NAME[,NAME...] --from SQL [--spec FILE] [--from-database URL]",
		Short: "Adopt the ids that another consumer has processed",
		Long: `Reads ids that another consumer has processed, and adds them to the known keys of an event. A
record with one of them is then a duplicate, whatever its content, for at least the window of
the event. If the table of ids does not contain the event of each id, name all events: each gets
all ids.

SQL selects the parts of the key, by their names in the spec or in their order. A part is text,
or has a type whose text is that of the field. SQL may also select a column with a time: rows
older than the window are left out.

  idemgen adopt keys --event TransferMade --from 'SELECT event_id, processed_at FROM processed_messages'

The keys are added in the same way as those of a batch, so the service may run meanwhile. Known
keys do not change: run the command again after an error, and once more after the last record of
the other consumer. 10 million keys take a few minutes. Events with copies: same_partition keep
their keys in the ledger, and cannot adopt any.`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, flags) },
	}
	command.AsJSON(cmd, "events")
	cmd.Flags().StringVar(&f.from, "from", "", "query that selects the ids")
	cmd.Flags().StringVar(&f.source, "from-database", "", "URL of the database with the ids (default --database)")
	cmd.Flags().StringSliceVar(&f.events, "event", nil, "name of the event in the spec; several with commas between them")
	cmd.Flags().StringVar(&f.spec, "spec", generator.SpecFile, "spec that defines the keys")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "read and check all ids, but add none")
	command.Require(cmd, "from")
	command.Require(cmd, "event")
	return cmd
}

// adopted is what adopt keys prints.
type adopted struct {
	Events []adoptedKeys `json:"events"`
	Dry    bool          `json:"-"`
}

// adoptedKeys are those of one event.
type adoptedKeys struct {
	Event string `json:"event"`
	operate.AdoptedKeys
	Old      int64  `json:"old"` // rows further back than the window, which were left out
	Consumer string `json:"-"`
	Window   string `json:"-"`
}

func (f *adoptFlags) run(cmd *cobra.Command, flags *streamFlags) error {
	specs, err := command.FindSpecs([]string{f.spec})
	if err != nil {
		return err
	}
	if len(specs) != 1 {
		return fmt.Errorf("--spec %s names %d specs: name the one of the service", f.spec, len(specs))
	}
	makers := make([]*generator.KeyMaker, len(f.events))
	var consumer string
	var longest time.Duration
	for i, event := range f.events { // all, before anything is added
		if makers[i], consumer, longest, err = generator.KeysOf(specs[0], event); err != nil {
			return err
		}
		if makers[i].Here {
			return fmt.Errorf("%s says copies: same_partition: its keys are in the ledger of their partition, where none can be adopted; leave out copies until the window has passed", event)
		}
	}
	source := f.source
	if source == "" {
		source = flags.database
	}
	ctx := cmd.Context()
	from, err := command.ConnectTo(ctx, cmd.ErrOrStderr(), "--from-database", source, anywhere)
	if err != nil {
		return err
	}
	defer from.Close()
	conn, err := from.Acquire(ctx)
	if err != nil {
		return command.MaskConnect(err)
	}
	defer conn.Release()
	var db operate.DB
	if !f.dry {
		pool, err := command.Connect(ctx, cmd.ErrOrStderr(), "--database", flags.database)
		if err != nil {
			return err
		}
		defer pool.Close()
		db = pool
	}
	done := adopted{Dry: f.dry}
	for i, event := range f.events {
		ids, err := newIDs(ctx, conn.Conn(), f.from, makers[i])
		if err != nil {
			return err
		}
		is := adoptedKeys{Event: event, Consumer: consumer, Window: window(makers[i].Window)}
		if is.AdoptedKeys, err = f.adopt(cmd, db, consumer, longest, ids); err != nil {
			return fmt.Errorf("%w; %d keys of %s were added before: run it again", err, is.Added, event)
		}
		is.Old = ids.old
		done.Events = append(done.Events, is)
	}
	return f.print(cmd, "adopted keys", done)
}

// adopt makes ids known, or reads them only.
func (f *adoptFlags) adopt(cmd *cobra.Command, db operate.DB, consumer string, longest time.Duration, ids *ids) (a operate.AdoptedKeys, err error) {
	if f.dry {
		for _, err := range ids.keys(cmd.Context()) {
			if err != nil {
				return a, err
			}
			a.Keys++
		}
		return a, nil
	}
	told := time.Now()
	return operate.AdoptKeys(cmd.Context(), db, consumer, longest, ids.keys(cmd.Context()), func(a operate.AdoptedKeys) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			fmt.Fprintf(cmd.ErrOrStderr(), "%d ids read, %d added\n", a.Keys, a.Added)
		}
	})
}

func (f *adoptFlags) print(cmd *cobra.Command, page string, done any) error {
	if a := command.AnswerOf(cmd); a.Wanted {
		return a.Fill(done)
	}
	out, err := pages.Text(page, done)
	if err == nil {
		_, err = fmt.Fprint(cmd.OutOrStdout(), out)
	}
	return err
}

// window is a duration in days, if it has whole ones.
func window(d time.Duration) string {
	if d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return d.String()
}

// ids are what a query selects, and how keys are made of it.
type ids struct {
	conn  *pgx.Conn
	sql   string
	maker *generator.KeyMaker
	parts []int // by part of the key: its column
	timed bool  // another column says whether the row is within the window
	old   int64 // rows that were not
}

// newIDs finds the parts of the key among the columns of a query.
func newIDs(ctx context.Context, conn *pgx.Conn, from string, maker *generator.KeyMaker) (*ids, error) {
	from = strings.TrimRight(strings.TrimSpace(from), ";")
	rows, err := conn.Query(ctx, "SELECT * FROM ("+from+"\n) AS ids LIMIT 0", pgx.QueryExecModeExec)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	fields := slices.Clone(rows.FieldDescriptions())
	rows.Close()
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	n := &ids{conn: conn, maker: maker}
	var others, times []int
	byName := map[string]int{}
	for i, field := range fields {
		if slices.Contains(maker.Parts, field.Name) {
			byName[field.Name] = i
			continue
		}
		if field.DataTypeOID == pgtype.TimestamptzOID || field.DataTypeOID == pgtype.TimestampOID {
			times = append(times, i)
		} else {
			others = append(others, i)
		}
	}
	var names []string
	for _, field := range fields {
		names = append(names, field.Name)
	}
	wrong := fmt.Errorf("--from selects %s; it must select the parts of the key of the event, %s, and at most one time besides", strings.Join(names, ", "), strings.Join(maker.Parts, ", "))
	switch {
	case len(byName) == len(maker.Parts) && len(others) == 0:
		for _, part := range maker.Parts {
			n.parts = append(n.parts, byName[part])
		}
	case len(byName) == 0 && len(others) == len(maker.Parts):
		n.parts = others
	default:
		return nil, wrong
	}
	var columns []string
	for i, at := range n.parts {
		if err := asText(conn, fields[at]); maker.Texts[i] && err != nil {
			return nil, err
		}
		columns = append(columns, pgx.Identifier{names[at]}.Sanitize())
		n.parts[i] = i
	}
	switch len(times) {
	case 0:
	case 1:
		n.timed = true
		column := pgx.Identifier{names[times[0]]}.Sanitize()
		columns = append(columns, fmt.Sprintf("coalesce(%s > now() - interval '%d seconds', true)", column, int64(maker.Window.Seconds())))
	default:
		return nil, wrong
	}
	n.sql = "SELECT " + strings.Join(columns, ", ") + " FROM (" + from + "\n) AS ids"
	return n, nil
}

// sameTexts are the types whose values have one text, which a producer writes, too: text, varchar,
// name, uuid and whole numbers.
var sameTexts = []uint32{
	pgtype.TextOID, pgtype.VarcharOID, pgtype.NameOID, pgtype.UnknownOID, pgtype.UUIDOID, pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID,
}

// ownTypes are the numbers of types from here on that users have made, such as enums and citext.
const ownTypes = 16384

// asText returns an error for a column whose texts are most likely not those of a producer: what
// is adopted of it would never be a duplicate of anything.
func asText(conn *pgx.Conn, field pgconn.FieldDescription) error {
	if field.DataTypeOID >= ownTypes || slices.Contains(sameTexts, field.DataTypeOID) {
		return nil
	}
	is := fmt.Sprintf("of type %d", field.DataTypeOID)
	if known, ok := conn.TypeMap().TypeForOID(field.DataTypeOID); ok {
		is = known.Name
	}
	return fmt.Errorf("--from: column %s is %s, whose text differs from what a producer sends: cast it to that, as in encode(%[1]s, 'hex') of bytea, or rtrim(%[1]s) of char(n)", field.Name, is)
}

// keys makes the key of each row, as rows arrive.
func (n *ids) keys(ctx context.Context) iter.Seq2[[16]byte, error] {
	return func(yield func([16]byte, error) bool) {
		result := n.conn.PgConn().ExecParams(ctx, n.sql, nil, nil, nil, nil) // all values as text
		defer func() { _, _ = result.Close() }()
		row := 0
		texts := make([]string, len(n.parts))
		for result.NextRow() {
			if row++; n.timed && string(result.Values()[len(n.parts)]) == "f" {
				n.old++
				continue
			}
			var key [16]byte
			err := n.texts(result, texts)
			if err == nil {
				key, err = n.maker.Key(texts)
			}
			if err != nil {
				yield(key, fmt.Errorf("row %d of --from: %w", row, err))
				return
			}
			if !yield(key, nil) {
				return
			}
		}
		if _, err := result.Close(); err != nil {
			yield([16]byte{}, fmt.Errorf("--from: %w", err))
		}
	}
}

// texts reads the parts of a row.
func (n *ids) texts(result *pgconn.ResultReader, texts []string) error {
	values := result.Values()
	for i, at := range n.parts {
		if values[at] == nil {
			return errors.New(n.maker.Parts[i] + " is NULL")
		}
		texts[i] = string(values[at])
	}
	return nil
}
