package seedlog

import "github.com/idemgen/idemgen/internal/gen/model"

// skips says for which records a step is skipped without an error.
type skips struct {
	there, missing bool // its row is there, or is not
	stale          bool // the record's version is not newer
}

func skipsOf(s *model.Step) skips {
	return skips{there: s.If.Exists == "skip", missing: s.If.Missing == "skip" && !s.Removes, stale: s.If.Newer != nil}
}

// now reports whether the record finds the step to be skipped.
func (k skips) now(s *stepEffect, v visit, has func(table int) bool) bool {
	there := has(s.table)
	switch {
	case k.there && (v.again || there && !s.own):
		return true
	case k.missing && !there:
		return true
	}
	return k.stale && there && v.version != newer
}
