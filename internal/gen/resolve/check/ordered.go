package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
)

// rowKey are the columns that find the row, with their values.
func rowKey(st *draft.Step) []model.Assign {
	if len(st.Model.Where) > 0 {
		return st.Model.Where
	}
	var out []model.Assign
	for _, c := range st.Model.By {
		if v, ok := st.Set[st.Table.Of(c)]; ok {
			out = append(out, model.Assign{Column: c, Value: v.Model})
		}
	}
	return out
}

// ordered reports whether all events of the topic that write the row come in order:
// the topic is ordered by its record key, and the record key is inside the row key.
func ordered(st *draft.Step) bool {
	t := st.Event.Topic
	if !t.Model.Ordered || t.Key == nil || !t.OneTopic(fieldsOf(rowKey(st))) {
		return false
	}
	for _, p := range t.Key.Model.Parts {
		if !slices.ContainsFunc(rowKey(st), func(a model.Assign) bool { return tells(a, p) }) {
			return false
		}
	}
	return true
}

// tells reports whether rows of one value in a column are of one part of a record key.
func tells(a model.Assign, part *model.KeyPart) bool { return draft.PartOf(a.Value) == part }

// whyUnordered says why a step is not ordered.
func whyUnordered(st *draft.Step) string {
	t := st.Event.Topic
	if !t.Model.Ordered || t.Key == nil {
		return fmt.Sprintf("topic %s does not say what orders it", wording.Quote(t.Spec.Name.Value))
	}
	if !t.OneTopic(fieldsOf(rowKey(st))) {
		return apart(t)
	}
	var columns []string
	for _, a := range rowKey(st) {
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
	return fmt.Sprintf("nothing orders the %d topics of %s against each other", len(t.Model.Kafka), wording.Quote(t.Spec.Name.Value))
}

// whichTopic is what to do if no row is to be changed from two topics of an entry.
const whichTopic = "find rows by the topic, too: a field {type: string, record: topic}"

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
