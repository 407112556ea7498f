package state

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// service returns a service with two tables and one keyed event; every test changes a
// copy of its own.
func service() *model.Service {
	id := &model.Column{Name: "order_id", Type: model.ColType{Kind: model.ColUUID}}
	total := &model.Column{Name: "total", Type: model.ColType{Kind: model.ColNumeric, Precision: 12, Scale: 2}}
	status := &model.Column{
		Name: "status", Type: model.ColType{Kind: model.ColText},
		Default: &model.Default{Const: &model.Constant{Text: "new: # \"x\"\n\u2028"}},
	}
	at := &model.Column{Name: "at", Type: model.ColType{Kind: model.ColTimestamptz}, Default: &model.Default{Func: "now()"}}
	orders := &model.Table{
		Name: "orders", Columns: []*model.Column{id, total, status, at}, PrimaryKey: []*model.Column{id},
		Unique: [][]*model.Column{{total, status}},
	}
	line := &model.Column{Name: "line", Type: model.ColType{Kind: model.ColBigint}, Identity: true}
	of := &model.Column{Name: "of", Type: model.ColType{Kind: model.ColUUID}, Nullable: true}
	lines := &model.Table{
		Name: "lines", Columns: []*model.Column{line, of}, PrimaryKey: []*model.Column{line},
		ForeignKeys: []model.ForeignKey{{Columns: []*model.Column{of}, References: orders, OnDelete: "cascade"}},
	}
	item := &model.Type{Name: "Item", Fields: []*model.Field{field("sku", model.String), field("n", model.Int32)}}
	topic := &model.Topic{Name: "orders.v1", Kafka: []string{"orders.v1"}, Dispatch: model.Dispatch{EventType: []model.Discriminator{{Header: "type"}}}}
	placed := &model.Event{
		Name: "OrderPlaced", Topic: topic, Types: []string{"placed", "made"},
		Fields: []*model.Field{
			field("total", model.Decimal),
			{Name: "items", Type: model.FieldType{Kind: model.List, Elem: &model.FieldType{Kind: model.Object, Named: item}},
				Source: model.Source{Kind: model.FromPayload, Path: []string{"a.b", "c"}}},
			{Name: "tenant", Type: model.FieldType{Kind: model.String}, Source: model.Source{Kind: model.FromHeader, Header: "X-Tenant"}},
			{Name: "seen", Type: model.FieldType{Kind: model.Timestamp}, Source: model.Source{Kind: model.FromRecord, Record: "timestamp"}},
		},
		Key: &model.IdempotencyKey{Parts: []model.KeySource{{Header: "Idempotency-Key"}}, Space: [16]byte{1, 2}, Window: 8 * 24 * time.Hour},
	}
	offset := &model.Event{Name: "Read", Topic: topic, Types: []string{"read"}, Key: &model.IdempotencyKey{Offset: true}}
	topic.Events = []*model.Event{placed, offset}
	return &model.Service{
		Source: "idemgen.yaml", Consumer: "order-projector",
		Tables: []*model.Table{orders, lines}, Topics: []*model.Topic{topic},
	}
}

func field(name string, kind model.Kind) *model.Field {
	return &model.Field{Name: name, Type: model.FieldType{Kind: kind}, Source: model.Source{Kind: model.FromPayload, Path: []string{name}}}
}

func first(s *model.Service) *State {
	st := Next(nil, s)
	st.Migrations = []Migration{{"0001_idem_core_1.sql", Sum([]byte("x"))}, {"0002_by_hand.sql", ByHand}}
	return st
}

func TestRoundTrip(t *testing.T) {
	s := service()
	s.Topics[0].Events[0].Key.SamePartition = true
	want := first(s)
	text := want.Render()
	for _, data := range []string{string(text), strings.ReplaceAll(string(text), "\n", "\r\n")} {
		got, err := Read("idem.state.yaml", []byte(data))
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	}
}

func TestOneLinePerEntry(t *testing.T) {
	got := string(first(service()).Render())
	for _, want := range []string{
		"      total: numeric(12,2)\n",
		"      status: \"text default \\\"new: # \\\\\\\"x\\\\\\\"\\\\n\\\\u2028\\\"\"\n",
		"      of: nullable uuid\n",
		"      line: bigint identity\n",
		"    primary_key: order_id\n",
		"      - total, status\n",
		"      - of references orders on delete cascade\n",
		"        - header \"Idempotency-Key\"\n",
		"      space: 01020000000000000000000000000000\n",
		"      window: 8d\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
	if want := "events:\n  orders.v1:\n    event_type: header type\n    OrderPlaced:\n      - placed\n      - made\n    Read:\n      - read\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if keys, _, _ := strings.Cut(got, "\nevents:\n"); strings.Contains(keys, "Read:") {
		t.Error("an offset key is stored")
	}
}

func TestUnusableFiles(t *testing.T) {
	good := string(first(service()).Render())
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "has no version"},
		{"a merge left its marks", strings.Replace(good, "tables:\n", "<<<<<<< ours\ntables:\n", 1), "this looks like an unresolved merge: take this file and the migrations of the branch that was merged first"},
		{"half of it", good[:len(good)/2], "restore it"},
		{"newer", strings.Replace(good, "version: 1", "version: 2", 1), ".yaml has version 2, this idemgen knows 1: a newer idemgen wrote it; use that one"},
		{"no version", strings.Replace(good, "version: 1", "version: x", 1), `version "x"`},
		{"unknown key", good + "extra: 1\n", "edited by hand"},
		{"comment", strings.Replace(good, "tables:\n", "# mine\ntables:\n", 1), "edited by hand"},
		{"list for a map", good[:strings.Index(good, "tables:")] + "tables:\n  - orders\n", "want a map"},
		{"map for a text", strings.Replace(good, "    primary_key: order_id", "    primary_key:\n      a: b", 1), "want a string"},
		{"a text", "version\n", "has no version"},
		{"a list", "- version: 1\n", "has no version"},
		{"no duration", strings.Replace(good, "window: 8d", "window: long", 1), "want a duration"},
		{"another form of a duration", strings.Replace(good, "window: 8d", "window: 192h", 1), "edited by hand"},
		{"not yaml", strings.Replace(good, "tables:\n", "tables: [\n", 1), "is damaged: "},
		{"identity", strings.Replace(good, "\nidentity: ", "\nidentity: x", 1), "8 hex digits"},
		{"no identity", good[:strings.Index(good, "identity: ")] + good[strings.Index(good, "keys:\n"):], "known_identities"},
	} {
		_, err := Read("dir/idem.state.yaml", []byte(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "dir/idem.state.yaml") {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}

// A file that lacks one of its lines, has one twice, or has another value in one, is an error that
// names a line: nothing in it is guessed.
func TestAFileWithAnotherLineIsUnusable(t *testing.T) {
	s := service()
	s.Topics[0].Events[0].Key.SamePartition = true
	s.Tables[1].Schema, s.Tables[1].Stored = "sales", "Lines"
	lines := strings.SplitAfter(string(first(s).Render()), "\n")
	body := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "version:") }) + 1
	for i := body; i < len(lines)-1; i++ {
		name, _, _ := strings.Cut(lines[i], ":")
		for what, line := range map[string]string{
			"no": "", "double": lines[i] + lines[i], "empty": name + ":\n", "listed": name + ": [x]\n", "mapped": name + ": {x: y}\n", "long": strings.TrimSuffix(lines[i], "\n") + "0\n",
		} {
			text := strings.Join(slices.Concat(lines[:i], []string{line}, lines[i+1:]), "")
			got, err := Read("idem.state.yaml", []byte(text))
			if err == nil && !bytes.Equal(got.Render(), []byte(text)) {
				t.Errorf("%s line %q is accepted", what, lines[i])
			}
			if err != nil && !strings.HasPrefix(err.Error(), "idem.state.yaml") {
				t.Errorf("%s line %q: %v", what, lines[i], err)
			}
		}
	}
}

func TestTableChanges(t *testing.T) {
	text := model.ColType{Kind: model.ColText}
	add := func(c model.Column) func(*model.Service) {
		return func(s *model.Service) { s.Tables[0].Columns = append(s.Tables[0].Columns, &c) }
	}
	for _, tc := range []struct {
		name   string
		change func(s *model.Service)
		want   string // additions, then refusals as "subject: message"
	}{
		{"nothing", func(*model.Service) {}, ""},
		{"comment", func(s *model.Service) { s.Tables[0].Doc.Description = "x" }, ""},
		{"order of columns", func(s *model.Service) { slices.Reverse(s.Tables[0].Columns) }, ""},
		{"new table", func(s *model.Service) { s.Tables = append(s.Tables, &model.Table{Name: "t"}) }, `table "t" is new`},
		{"new nullable column", add(model.Column{Name: "c", Type: text, Nullable: true}), `column "c" of "orders" is new`},
		{"new column with a default", add(model.Column{Name: "c", Type: text, Default: &model.Default{Func: "now()"}}), `column "c" of "orders" is new`},
		{"new required column", add(model.Column{Name: "c", Type: text}),
			`refused: orders.c: new column "c" of "orders" has no value for the existing rows`},
		{"new identity", add(model.Column{Name: "c", Type: text, Identity: true}),
			`refused: orders.c: new column "c" of "orders" gets its own number in each row, so adding it would rewrite the whole table, and nothing could use the table meanwhile`},
		{"new default of each row", add(model.Column{Name: "c", Type: model.ColType{Kind: model.ColUUID}, Nullable: true, Default: &model.Default{Func: "gen_random_uuid()"}}),
			`refused: orders.c: new column "c" of "orders" gets its own default in each row, so adding it would rewrite the whole table, and nothing could use the table meanwhile`},
		{"removed column", func(s *model.Service) { s.Tables[0].Columns = s.Tables[0].Columns[:3] },
			`refused: orders.at: column "at" was removed; idemgen does not drop data`},
		{"removed table", func(s *model.Service) { s.Tables = s.Tables[:1] },
			`refused: lines: table "lines" was removed; idemgen does not drop data`},
		{"more digits", func(s *model.Service) { s.Tables[0].Columns[1].Type.Precision = 14 },
			`column "total" of "orders" changed from numeric(12,2) to numeric(14,2)`},
		{"any digits", func(s *model.Service) { s.Tables[0].Columns[1].Type.Precision = 0 },
			`column "total" of "orders" changed from numeric(12,2) to numeric`},
		{"more digits behind the point", func(s *model.Service) {
			s.Tables[0].Columns[1].Type.Precision, s.Tables[0].Columns[1].Type.Scale = 14, 4
		}, `column "total" of "orders" changed from numeric(12,2) to numeric(14,4)`},
		{"another type", func(s *model.Service) { s.Tables[0].Columns[2].Type.Kind = model.ColUUID },
			`column "status" of "orders" changed from text default "new: # \"x\"\n\u2028" to uuid default "new: # \"x\"\n\u2028"`},
		{"fewer bits", func(s *model.Service) { s.Tables[1].Columns[0].Type.Kind = model.ColInteger },
			`column "line" of "lines" changed from bigint identity to integer identity`},
		{"no identity", func(s *model.Service) { s.Tables[1].Columns[0].Identity = false },
			`refused: lines.line: column "line" of "lines" changed from bigint identity to bigint; idemgen does not change how rows are numbered`},
		{"required to nullable", func(s *model.Service) { s.Tables[0].Columns[1].Nullable = true },
			`column "total" of "orders" changed from numeric(12,2) to nullable numeric(12,2)`},
		{"nullable to required", func(s *model.Service) { s.Tables[1].Columns[1].Nullable = false },
			`refused: lines.of: column "of" of "lines" changed from nullable uuid to uuid: rows may have no value there`},
		{"a default", func(s *model.Service) {
			s.Tables[0].Columns[1].Default = &model.Default{Const: &model.Constant{Text: "0"}}
		},
			`column "total" of "orders" changed from numeric(12,2) to numeric(12,2) default "0"`},
		{"no default", func(s *model.Service) { s.Tables[0].Columns[3].Default = nil },
			`refused: orders.at: column "at" of "orders" changed from timestamptz default now() to timestamptz: older versions may leave the column to its default`},
		{"primary key", func(s *model.Service) { s.Tables[0].PrimaryKey = s.Tables[0].Columns[:2] },
			`refused: orders: the primary key of "orders" changed from [order_id] to [order_id, total]`},
		{"new unique key", func(s *model.Service) { s.Tables[0].Unique = append(s.Tables[0].Unique, s.Tables[0].Columns[1:2]) },
			`unique key [total] of "orders" is new`},
		{"unique key gone", func(s *model.Service) { s.Tables[0].Unique = nil },
			`refused: orders: unique key [total, status] of "orders" was removed; idemgen does not drop it`},
		{"foreign key", func(s *model.Service) {
			s.Tables[0].ForeignKeys = []model.ForeignKey{{Columns: s.Tables[0].PrimaryKey, References: s.Tables[1], OnDelete: "restrict"}}
		}, `foreign key [order_id references lines on delete restrict] of "orders" is new`},
		{"another foreign key", func(s *model.Service) { s.Tables[1].ForeignKeys[0].OnDelete = "restrict" },
			`refused: lines: foreign key [of references orders on delete restrict] of "lines" was [of references orders on delete cascade]; idemgen does not drop it`},
		{"a foreign key of another column in place of one", func(s *model.Service) {
			s.Tables[1].ForeignKeys = []model.ForeignKey{{Columns: s.Tables[1].Columns[:1], References: s.Tables[0], OnDelete: "cascade"}}
		}, `foreign key [line references orders on delete cascade] of "lines" is new; ` +
			`refused: lines: foreign key [of references orders on delete cascade] of "lines" was removed; idemgen does not drop it`},
		{"foreign key gone", func(s *model.Service) { s.Tables[1].ForeignKeys = nil },
			`refused: lines: foreign key [of references orders on delete cascade] of "lines" was removed; idemgen does not drop it`},
		{"another name in the database", func(s *model.Service) { s.Tables[0].Stored = "T_SALES" },
			`refused: orders: table "orders" is "T_SALES" now, it was orders; idemgen does not move or rename it`},
	} {
		s := service()
		tc.change(s)
		var got []string
		for _, c := range TableChanges(first(service()), s) {
			text := c.Text
			if c.Kind == Refused {
				text = "refused: " + c.Subject() + ": " + text
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, strings.Join(got, "; "), tc.want)
		}
	}
	added := TableChanges(nil, service())
	if len(added) != 2 || added[0].Kind != NewTable || added[1].Kind != NewTable {
		t.Errorf("at first: %+v", added)
	}
}

// Tables that the migrations do not make are no part of what a migration adds. What earlier ones
// made of a table that is external by now stays known, or it would be made twice one day.
func TestExternalTables(t *testing.T) {
	old := Next(nil, service())
	s := service()
	s.Tables[0].External = true
	s.Tables = append(s.Tables, &model.Table{Name: "accounts", External: true, Columns: s.Tables[0].Columns})
	if changes := TableChanges(old, s); len(changes) > 0 {
		t.Errorf("got %v", changes)
	}
	if next := Next(old, s); !reflect.DeepEqual(next.Tables, old.Tables) {
		t.Errorf("the state has %v, not %v", next.Tables, old.Tables)
	}
	if next := Next(nil, s); len(next.Tables) != 1 {
		t.Errorf("the state has %v", next.Tables)
	}
}

// Another place of a table or another name of a column in the database is refused, and both
// survive the file.
func TestPlacesInTheDatabase(t *testing.T) {
	s := service()
	s.Tables[0].Schema, s.Tables[0].Stored, s.Tables[0].Columns[1].Stored = `a "b"`, "Orders", "Sum: #"
	old := Next(nil, service())
	refused := TableChanges(old, s)
	if len(refused) != 2 || refused[0].Kind != Refused || refused[1].Kind != Refused || refused[0].Subject() != "orders.total" || refused[1].Subject() != "orders" {
		t.Errorf("got %+v", refused)
	}
	next := Next(old, s)
	read, err := Read(File, next.Render())
	if err != nil || !reflect.DeepEqual(read.Tables, next.Tables) {
		t.Errorf("%v: got %v, want %v", err, read, next.Tables)
	}
	if changes := TableChanges(read, s); len(changes) > 0 {
		t.Errorf("got %+v", changes)
	}
}
