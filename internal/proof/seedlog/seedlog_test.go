package seedlog_test

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// mayMeet says from the spec alone whether records of two events can be seen to touch one
// row: steps on one table that name its rows by the same columns, or one that names
// parents that the other writes.
func mayMeet(a, b *model.Event) bool {
	for _, x := range a.Steps {
		for _, y := range b.Steps {
			if x.Table == y.Table && byTheSameColumns(x, y) && !(a == b && rowIsKey(x)) {
				return true
			}
			if namesParent(x, y) || namesParent(y, x) {
				return true
			}
		}
	}
	return false
}

// columns are those by which a step tells the test its row, and the fields in them.
func columns(s *model.Step) map[*model.Column]*model.Field {
	assigns := s.Where
	if s.Verb == "insert" || s.Verb == "upsert" {
		assigns = s.Set
	}
	out := map[*model.Column]*model.Field{}
	for _, a := range assigns {
		if a.Value.Field == nil || a.Value.Field.Source.Kind != model.FromRecord {
			out[a.Column] = a.Value.Field
		}
	}
	return out
}

func byTheSameColumns(x, y *model.Step) bool {
	in, also := columns(x), columns(y)
	sets := append([][]*model.Column{x.Table.PrimaryKey}, x.Table.Unique...)
	for _, s := range []*model.Step{x, y} {
		if s.Verb == "update" || s.Verb == "delete" {
			sets = append(sets, slices.Collect(maps.Keys(columns(s))))
		}
	}
	return slices.ContainsFunc(sets, func(set []*model.Column) bool {
		return !slices.ContainsFunc(set, func(c *model.Column) bool {
			_, ok := in[c]
			_, too := also[c]
			return !ok || !too
		})
	})
}

// rowIsKey reports whether two records of the event with one row have one idempotency
// key too, so that the second would be a duplicate.
func rowIsKey(s *model.Step) bool {
	var fields []*model.Field
	for c, f := range columns(s) {
		if slices.Contains(s.Table.PrimaryKey, c) {
			fields = append(fields, f)
		}
	}
	return !s.Event.Key.Offset && !slices.ContainsFunc(s.Event.Key.Parts, func(p model.KeySource) bool { return !slices.Contains(fields, p.Field) })
}

func namesParent(child, parent *model.Step) bool {
	in := columns(parent)
	return slices.ContainsFunc(child.Table.ForeignKeys, func(fk model.ForeignKey) bool {
		named := slices.ContainsFunc(child.Set, func(a model.Assign) bool { return a.Column == fk.Columns[0] })
		return fk.References == parent.Table && named &&
			!slices.ContainsFunc(parent.Table.PrimaryKey, func(c *model.Column) bool { _, ok := in[c]; return !ok })
	})
}

func TestEveryPairMeetsInBothOrdersOnTwoRows(t *testing.T) {
	eachTopic(t, func(t *testing.T, s *model.Service, topic *model.Topic, log []seedlog.Record) {
		events := map[string]*model.Event{}
		for _, e := range topic.Events {
			events[e.GoName] = e
		}
		met := map[string]map[string]bool{}
		for i := 1; i < len(log); i++ {
			a, b := log[i-1], log[i]
			two := a.Event + " " + b.Event
			if row := shared(touches(t, events[a.Event], a), touches(t, events[b.Event], b)); row != "" {
				if met[two] == nil {
					met[two] = map[string]bool{}
				}
				met[two][row] = true
			}
		}
		for _, a := range topic.Events {
			for _, b := range topic.Events {
				two := a.GoName + " " + b.GoName
				stops := a.OnFailure.GiveUp == "stop" || b.OnFailure.GiveUp == "stop" // nothing may be refused
				if mayMeet(a, b) && !stops && len(met[two]) < 2 {
					t.Errorf("%s meet on %v", two, met[two])
				}
			}
		}
	})
}

func TestMostRecordsApply(t *testing.T) {
	eachTopic(t, func(t *testing.T, s *model.Service, topic *model.Topic, log []seedlog.Record) {
		knownOtherwise := map[string]bool{}
		for _, e := range topic.Events {
			few := !e.Key.Offset && !slices.ContainsFunc(e.Key.Parts, func(p model.KeySource) bool { return p.Field == nil || p.Field.Type.Kind != model.Enum })
			knownOtherwise[e.GoName] = few
		}
		goOn(topic)
		in := begun(s, topic)
		refused := 0
		for i, r := range log {
			switch out := in.Apply(kafka(topic, i, r)); {
			case out.Refused:
				refused++
			case out.Kind == oracle.Applied:
			case out.Kind == oracle.Duplicate && knownOtherwise[r.Event]:
			default:
				t.Errorf("record %d %s %s: %s %s %s %s", i, r.Event, r.Value, out.Kind, out.Class, out.Path, out.Detail)
			}
		}
		if refused*4 > len(log) {
			t.Errorf("%d of %d records are refused", refused, len(log))
		}
	})
}

func TestEveryEventOccursTwice(t *testing.T) {
	eachTopic(t, func(t *testing.T, s *model.Service, topic *model.Topic, log []seedlog.Record) {
		for _, e := range topic.Events {
			n := 0
			for _, r := range log {
				if r.Event == e.GoName {
					n++
					if keyed := !e.Key.Offset; r.Keyed != keyed {
						t.Errorf("%s: keyed %v", e.Name, r.Keyed)
					}
				}
			}
			if n < 2 {
				t.Errorf("%s occurs %d times", e.Name, n)
			}
		}
	})
}

func TestTheLogIsAlwaysTheSame(t *testing.T) {
	eachTopic(t, func(t *testing.T, s *model.Service, topic *model.Topic, log []seedlog.Record) {
		for range 5 {
			if !reflect.DeepEqual(log, logOf(s, topic)) {
				t.Fatal("two logs of one model differ")
			}
		}
	})
}

func TestIfNewerSeesRisingEqualAndOlderVersions(t *testing.T) {
	s := services(t)["only newer"]
	log := logOf(s, s.Topics[0])
	in := begun(s, s.Topics[0])
	versions := map[string][]int{} // by device
	for i, r := range log {
		in.Apply(kafka(s.Topics[0], i, r))
		cells := touches(t, s.Topics[0].Events[0], r)[0].cells
		n, err := strconv.Atoi(text(cells[s.Tables[0].Columns[1]]))
		if err != nil {
			t.Fatal(err)
		}
		device := cells[s.Tables[0].Columns[0]]
		versions[device] = append(versions[device], n)
	}
	shown := 0
	for device, seq := range versions {
		if n := seq[0]; slices.Equal(seq, []int{n, n + 10, n + 10, n + 5}) {
			shown++
			stored := fmt.Sprintf("device=%q  seq=%d  ", device, n+10)
			if !slices.ContainsFunc(in.Rows("state"), func(row string) bool { return strings.HasPrefix(row, stored) }) {
				t.Errorf("no row %s", stored)
			}
		}
	}
	if shown != 1 {
		t.Errorf("%d devices have versions that rise, stay and fall: %v", shown, versions)
	}
}

func TestValuesAreReadable(t *testing.T) {
	s := services(t)["child rows by list, element and many"]
	log := logOf(s, s.Topics[0])
	first := log[0]
	if got := fmt.Sprintf("%s %s %s", first.Key, first.Value, first.Headers); got !=
		`100001 {"note":"note 100001","lines":[{"sku":"sku01","qty":100001},{"sku":"sku02","qty":100002}]} [{type filled} {key k100001}]` {
		t.Errorf("%s", got)
	}
	s = services(t)["insert, update, delete"]
	log = logOf(s, s.Topics[0])
	if got := fmt.Sprintf("%s %s %s", log[0].Key, log[0].Value, log[0].Headers); got !=
		`00000000-0000-4000-8000-000000100001 {"total":1.5} [{type placed} {key k100001}]` {
		t.Errorf("%s", got)
	}
}

// A log whose rows were all deleted at the end would prove nothing about their values.
func TestRowsStay(t *testing.T) {
	eachTopic(t, func(t *testing.T, s *model.Service, topic *model.Topic, log []seedlog.Record) {
		in := begun(s, topic)
		for i, r := range log {
			in.Apply(kafka(topic, i, r))
		}
		for _, step := range topic.Flush {
			if (step.Verb == "insert" || step.Verb == "upsert") && len(in.Rows(step.Table.Name)) == 0 {
				t.Errorf("table %s is empty at the end", step.Table.Name)
			}
		}
	})
}

// Rows that a handler of the topic may make would be in its way.
func TestOnlyRowsThatTheTopicCannotMakeAreThereBefore(t *testing.T) {
	s := services(t)["rows that a handler may make"]
	rows, _ := seedlog.Log(s, s.Topics[1], nil)
	for _, r := range rows {
		if r.Table.Name != "people" {
			t.Errorf("a row of %s is there", r.Table.Name)
		}
	}
	if len(rows) == 0 {
		t.Error("no row of people is there")
	}
}

func TestListsOfRowsAreFullAndOnceEmpty(t *testing.T) {
	s := services(t)["child rows by list, element and many"]
	lengths := map[int]int{}
	for _, r := range logOf(s, s.Topics[0]) {
		if r.Event == "Filled" {
			lengths[bytes.Count(r.Value, []byte(`"sku"`))]++
		}
	}
	if lengths[0] != 1 || lengths[1] == 0 || lengths[2] == 0 || len(lengths) != 3 {
		t.Errorf("records by number of elements: %v", lengths)
	}
}
