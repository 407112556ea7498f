package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// warnPartial warns of updates that come late and are refused by if_newer, although the newer
// event did not write all that they hold (W902). A step that makes rows is left out: it may well
// be the first one of its row, which no late event is.
func warnPartial(report *schema.Diagnostics, d *draft.Service) {
	guarded := map[*draft.Table][]overwriter{}
	for _, st := range d.Steps() {
		if st.Whole && st.Model.Changes && st.Model.If.Newer != nil && !st.Event.Topic.OrderUnknown {
			guarded[st.Table] = append(guarded[st.Table], overwriterOf(st))
		}
	}
	for _, st := range d.Steps() {
		all := guarded[st.Table]
		i := slices.IndexFunc(all, func(o overwriter) bool { return o.Step == st })
		if i < 0 || st.Model.Makes || all[i].patches {
			continue
		}
		late := all[i]
		for _, newer := range all {
			if lost := late.lacking(newer); newer.guard == late.guard && len(lost) > 0 && !inOrder(late, newer) {
				hint := "write the same columns in both, or compare a column of its own in each"
				if newer.Event.Topic == st.Event.Topic && !late.ordered {
					hint += orIfOrdered(st.Event.Topic)
				}
				report.Warn(st.Event.Accept(), late.guardPos(), "W902", fmt.Sprintf("%s: a late event is refused as a whole, with %s, which the newer %s does not write",
					st.Event.Is(), wording.QuotedList(lost), wording.Quote(newer.Event.Spec.Name.Value)), hint)
				break
			}
		}
	}
}

// lacking are the names of columns that the step overwrites, and another one does not.
func (o overwriter) lacking(other overwriter) (names []string) {
	for _, c := range o.columns {
		if !slices.Contains(other.columns, c) {
			names = append(names, c.Spec.Name.Value)
		}
	}
	return names
}
