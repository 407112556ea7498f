package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
)

// ordered reports whether all events of the topic that write the row come in order.
func ordered(st *draft.Step) bool { return st.Model.InOrder(st.Event.Topic.Model) }

// filled is the part of the record key that a row which a step writes has in a column.
type filled map[*model.Column]*model.KeyPart

func filledBy(st *draft.Step) filled {
	f := filled{}
	if st.Model.Makes {
		for _, a := range st.Model.Set {
			f[a.Column] = a.Value.KeyPart()
		}
	}
	for _, a := range st.Model.RowKey() {
		f[a.Column] = a.Value.KeyPart()
	}
	return f
}

// sameRecordKey reports whether a row that two steps of a topic write is of one record key:
// whether each part of the key is in a column that both fill with it.
func sameRecordKey(t *draft.Topic, a, b filled) bool {
	for _, p := range t.Key.Model.Parts {
		both := false
		for c, part := range a {
			both = both || part == p && b[c] == p
		}
		if !both {
			return false
		}
	}
	return true
}

// whyUnordered says why a step is not ordered.
func whyUnordered(st *draft.Step) string {
	t := st.Event.Topic
	if !t.Model.Ordered || t.Key == nil {
		return fmt.Sprintf("topic %s does not declare an order", wording.Quote(t.Spec.Name.Value))
	}
	if !t.Model.OneTopic(fieldsOf(st.Model.RowKey())) {
		return apart(t)
	}
	var columns []string
	for _, a := range st.Model.RowKey() {
		columns = append(columns, a.Column.Name)
	}
	parts := partNames(t.Key)
	found, from := wording.Bracketed(columns), ""
	if found == wording.Bracketed(parts) { // equal names, but not filled from the record key
		from = ", which the record key does not fill"
	}
	return fmt.Sprintf("rows of %s are found by %s%s, but the topic is ordered by %s", wording.Quote(st.Spec.Table.Value), found, from, wording.Bracketed(parts))
}

// apart says why records of one record key are in no order.
func apart(t *draft.Topic) string {
	return fmt.Sprintf("nothing orders the %d topics of %s relative to each other", len(t.Model.Kafka), wording.Quote(t.Spec.Name.Value))
}

// whichTopic is what to do if no row is to be changed from two topics of an entry.
const whichTopic = "also find rows by the topic: a field {type: string, record: topic}"

// fieldsOf are the fields among values.
func fieldsOf(assigns []model.Assign) (fields []*model.Field) {
	for _, a := range assigns {
		fields = append(fields, a.Value.Field)
	}
	return fields
}

func partNames(key *draft.RecordKey) []string {
	var names []string
	for _, p := range key.Model.Parts {
		names = append(names, p.Name)
	}
	return names
}
