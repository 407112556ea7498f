package effects

// violated says which promise of docs/effects.md a step breaks; "" is none.
func (r *Rules) violated(before, after *State) string {
	applied := 0
	for i := range after.Records {
		if after.Records[i].How == Applied {
			applied++
		}
	}
	if applied > 1 && !r.Topics {
		return "the event took effect twice"
	}
	for event := range after.Leases {
		if why := r.lost(before, after, event); why != "" {
			return why
		}
	}
	for i := range after.Records {
		if why := r.wrong(before, after, uint8(i)); why != "" {
			return why
		}
	}
	return ""
}

// lost says what is wrong with an event's calls and lease.
func (r *Rules) lost(before, after *State, event int) string {
	was, is := &before.Leases[event], &after.Leases[event]
	flushed := after.Left[Flush] < before.Left[Flush]
	switch {
	case after.Calls[event] > 1+after.Excused[event]:
		return "a call was made again although none was cut off"
	case !flushed && was.State == Done && is.State != Done && is.State != Completed, was.State == Completed && is.State != Completed:
		return "done was left"
	case !flushed && was.Result != 0 && is.Result != was.Result:
		return "a result was recorded twice"
	case is.Token < was.Token && !flushed:
		return "a token did not grow"
	}
	return ""
}

// wrong says what is wrong with what became of a record.
func (r *Rules) wrong(before, after *State, n uint8) string {
	is, lease := &after.Records[n], r.lease(after, n)
	if before.Records[n].How == is.How {
		return ""
	}
	took := after.Records[0].How == Applied || after.Records[1].How == Applied
	switch {
	case is.How == Duplicate && !took:
		return "a duplicate of an event that never took effect"
	case is.How != Applied:
	case is.Result == 0:
		return "rows without a result"
	case is.Result/ofEvent != r.event(n):
		return "rows hold the result of another event"
	case !(r.External && after.Flushed) && is.Result != lease.Result:
		return "rows hold another result than the store"
	}
	return ""
}
