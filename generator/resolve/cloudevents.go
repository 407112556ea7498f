package resolve

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkAttributes refuses attributes of CloudEvents on a topic whose records are none (E306).
func checkAttributes(report *schema.Diagnostics, t *draft.Topic) {
	if t.Spec.Envelope != nil || t.Spec.Broken {
		return
	}
	refuse := func(attribute bool, header *schema.Text, what string) {
		if attribute && header != nil {
			report.Add(header.Key, "E306", what+" reads an attribute of CloudEvents, but topic "+wording.Quote(t.Spec.Name.Value)+" has no envelope",
				"write envelope: cloudevents on the topic; without it, an event of binary mode has it as header: ce_<attribute>")
		}
	}
	fields := func(all []*schema.Field) {
		for _, f := range all {
			refuse(f.Attribute, f.Header, "field "+wording.Quote(f.Name.Value))
		}
	}
	key := func(k *schema.IdempotencyKey) {
		if k == nil {
			return
		}
		sources := k.Source
		for _, former := range k.Also {
			sources = append(sources[:len(sources):len(sources)], former.Parts...)
		}
		for _, s := range sources {
			refuse(s.Attribute, s.Header, "idempotency_key")
		}
	}
	discriminator := func(d *schema.Discriminator, what string) {
		if d != nil {
			refuse(d.Attribute, d.Header, what)
		}
	}
	discriminator(t.Spec.EventType, "event_type")
	discriminator(t.Spec.EventVersion, "event_version")
	fields(t.Spec.Fields)
	key(t.Spec.IdempotencyKey)
	for _, e := range t.Spec.Events {
		fields(e.Fields)
		key(e.IdempotencyKey)
	}
}
