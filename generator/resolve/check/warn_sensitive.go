package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// warnSensitive warns of fields that the spec calls sensitive, and whose values are seen outside
// of the payload all the same (W906).
func warnSensitive(report *schema.Diagnostics, d *draft.Service) {
	told := map[schema.Pos]bool{} // fields of a topic are those of each of its events
	for _, e := range d.Events() {
		for _, f := range e.Model.Fields {
			n := e.Scope.Find(f.Name)
			if !f.HoldsSensitive() {
				continue
			}
			what, hint := seen(e.Model, f)
			if what == "" || report.Accepts(e.Accept(), "W906") || told[n.Pos] {
				continue
			}
			told[n.Pos] = true
			report.Add(n.Pos, "W906", "field "+wording.Quote(f.Name)+" of "+e.Is()+" is sensitive, and "+what, hint)
		}
	}
}

// seen says where the value of a field is seen; "" if nowhere.
func seen(e *model.Event, f *model.Field) (what, hint string) {
	topic := e.Topic
	switch s := f.Source; {
	case s.Kind == model.FromRecordKey || f.SamePart != nil || s.Kind == model.FromRecord && s.Record == "key":
		return "is in the record key, which tools for Kafka show with every record", "key the topic by an id that tells nothing"
	case s.Kind == model.FromHeader && names(topic, s):
		return "is the text that tells the event: one that the spec does not name is told in dead letters and logs", "tell events by a text that is no secret"
	case s.Kind == model.FromHeader:
		return "is in a header, which tools for Kafka show with every record", "have the producer send it in the payload"
	case names(topic, s):
		return "is the text that tells the event: one that the spec does not name is told in dead letters and logs", "tell events by a text that is no secret"
	case slices.ContainsFunc(sources(e.Key), func(p model.KeySource) bool { return p.Field == f }):
		return "is part of the idempotency key: a plain hash of it is kept for the window", "a hash of what can be guessed gives it away: name an id"
	}
	return "", ""
}

func sources(k *model.IdempotencyKey) (parts []model.KeySource) {
	if k == nil {
		return nil
	}
	parts = slices.Clone(k.Parts)
	for _, former := range k.Former {
		parts = append(parts, former.Parts...)
	}
	return parts
}

// names reports whether a source is where the event's type or version stands.
func names(t *model.Topic, s model.Source) bool {
	return slices.ContainsFunc([]*model.Discriminator{t.EventType, t.EventVersion}, func(by *model.Discriminator) bool {
		switch {
		case by == nil:
			return false
		case by.Header != "":
			return s.Kind == model.FromHeader && s.Header == by.Header
		}
		return s.Kind == model.FromPayload && slices.ContainsFunc(s.Paths(), func(path []string) bool { return slices.Equal(path, by.Path) })
	})
}
