package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkRecordTimeIsRead reports record_timestamp where no event reads the record's timestamp
// (E412): it would halt partitions for nothing.
func checkRecordTimeIsRead(report *schema.Diagnostics, t *draft.Topic) {
	read := func(e *draft.Event) bool { return slices.ContainsFunc(e.Model.Fields, (*model.Field).IsRecordTime) }
	if !t.Model.CreateTime || !t.Complete() || slices.ContainsFunc(t.Events, read) {
		return
	}
	report.Add(t.Spec.Assume.Timestamp.Key, "E412", fmt.Sprintf(`"record_timestamp" has no meaning for topic %s: no event has a field with record: timestamp`, wording.Quote(t.Spec.Name.Value)), "drop it")
}
