package effects

// violated says which promise of docs/effects.md a step breaks; "" is none.
func (r *Rules) violated(before, after *State) string {
	applied := 0
	for i := range after.Records {
		if after.Records[i].How == Applied {
			applied++
		}
	}
	was, is := &before.Lease, &after.Lease
	flushed := after.Left[Flush] < before.Left[Flush]
	switch {
	case applied > 1:
		return "the event took effect twice"
	case after.Calls > 1+after.Excused:
		return "a call was made again although none was cut off"
	case !flushed && was.State == Done && is.State != Done && is.State != Completed, was.State == Completed && is.State != Completed:
		return "done was left"
	case !flushed && was.Result != 0 && is.Result != was.Result:
		return "a result was recorded twice"
	case is.Token < was.Token && !flushed:
		return "a token did not grow"
	}
	for i := range after.Records {
		passed := before.Records[i].How == Waiting && after.Records[i].How == Applied
		switch {
		case passed && after.Records[i].Result == 0:
			return "rows without a result"
		case passed && !(r.External && after.Flushed) && after.Records[i].Result != is.Result:
			return "rows hold another result than the store"
		}
	}
	return ""
}
