package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkTopicsOnce reports topics of Kafka that two entries read, or one reads twice (E214):
// nothing would say which of them has the records.
func checkTopicsOnce(report *syntax.Diagnostics, d *draft.Service) {
	first := map[string]syntax.Pos{}
	for _, t := range d.Topics {
		names := []syntax.Text{t.Spec.Name}
		if t.Spec.InKafka != nil {
			names = t.Spec.InKafka.Items
		}
		for _, name := range names {
			if was, taken := first[name.Value]; taken {
				report.Add(name.Pos, "E214", fmt.Sprintf("topic %s is consumed twice", wording.Quote(name.Value)), "the first time is on "+was.OnLine()+": put its events under one entry")
				continue
			}
			first[name.Value] = name.Pos
		}
	}
}
