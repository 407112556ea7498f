package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkTopicsOnce reports topics of Kafka that two entries consume, or one twice (E214).
func checkTopicsOnce(report *schema.Diagnostics, d *draft.Service) {
	first := map[string]schema.Text{}
	for _, t := range d.Topics {
		names := []schema.Text{t.Spec.Name}
		if t.Spec.InKafka != nil {
			names = []schema.Text{*t.Spec.InKafka}
		} else if t.Spec.Several != nil {
			names = t.Spec.Several.Items
		}
		for _, name := range names {
			if was, taken := first[name.Value]; taken {
				report.Add(name.Pos, "E214", fmt.Sprintf("topic %s is consumed twice", wording.Quote(name.Value)),
					fmt.Sprintf("the first one is on line %d: put the events of both under one entry", was.Pos.Line))
				continue
			}
			first[name.Value] = name
		}
	}
}
