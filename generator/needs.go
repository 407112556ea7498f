package generator

import (
	"cmp"
	"time"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Needs describes what a service requires of its database and its broker.
type Needs struct {
	Consumer string
	Schema   map[string]int // versions of the runtime's tables, by part
	Tables   []pgtable.Want
	Topics   []TopicNeeds // one for each topic in Kafka
	Effects  bool
}

// TopicNeeds describes what a service requires of one topic in Kafka.
type TopicNeeds struct {
	Name      string
	StartFrom string        // earliest, latest or committed
	Window    time.Duration // shortest window of its keys; 0 if it stores none
	Fixed     bool          // the spec relies on the number of partitions: another one halts them
	Schemas   []Schema      // the reader's schemas, if writers' schemas are in a registry
}

// Schema is the Avro schema of a topic's values or record keys.
type Schema struct {
	Of     string // "-value" or "-key": how subjects of the registry end
	Text   string
	Record string // name of the type in Text; "" means the whole schema
}

// Needs returns the needs of all services, in the order of the specs, or nil if a spec has errors.
func (r *Result) Needs() (all []Needs) {
	for _, read := range r.sources {
		s := read.service
		n := Needs{Consumer: s.Consumer, Schema: s.Schema, Effects: s.HasEffects()}
		for _, t := range s.Tables {
			n.Tables = append(n.Tables, wanted(s, t))
		}
		for _, t := range s.Topics {
			is := wire.Topic{Ordered: t.Ordered, Chain: t.LongestWindow(true), Parks: t.Parks()}
			needs := TopicNeeds{StartFrom: t.StartFrom, Window: t.ShortestWindow(), Fixed: is.ReliesOnPartition(), Schemas: schemasOf(t)}
			for _, name := range t.Kafka {
				needs.Name = name
				n.Topics = append(n.Topics, needs)
			}
		}
		all = append(all, n)
	}
	return all
}

// schemasOf returns the schemas of a topic whose writers' schemas are in a registry.
func schemasOf(t *model.Topic) (all []Schema) {
	for _, m := range t.OfRegistry() {
		s := Schema{"-value", string(m.Schema), m.Name}
		if m != t.Payload.Messages {
			s.Of = "-key"
		}
		all = append(all, s)
	}
	return all
}

// wanted returns what the service expects of a table when it starts.
func wanted(s *model.Service, t *model.Table) pgtable.Want {
	is := gocode.TableOf(s, t, sqlcode.TableName(t))
	w := pgtable.Want{SQL: cmp.Or(is.SQL, t.Name), Unique: is.Unique, Rights: is.Rights, Handled: s.HasHandlers() && !t.External}
	for _, topic := range s.Topics {
		for _, st := range topic.Flush {
			w.Upserts = w.Upserts || st.Table == t && st.Makes && (st.Changes || st.If.Exists == "skip")
		}
	}
	for _, c := range is.Columns {
		w.Columns = append(w.Columns, pgtable.WantColumn{
			Name: c.Name, Type: c.Type, Nullable: c.Nullable, Filled: c.Filled, Default: c.Default, Left: c.Left, Null: c.Null, Texts: c.Texts,
		})
	}
	return w
}
