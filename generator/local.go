package generator

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// Local describes what is needed to run the service of a spec on one machine.
type Local struct {
	Migrations string // folder
	Digest     string // of the spec, as generated tests have it
	Topics     []LocalTopic
	// Samples are the records of the cases, and of topics with an event that is in no case the
	// records that the generated tests draw. Each is for an empty database.
	Samples []Sample
}

// LocalTopic describes a topic that the service reads.
type LocalTopic struct {
	Names []string // in Kafka
	// Schemas are those that a registry must have for the samples to be decoded.
	Schemas []LocalSchema
}

// LocalSchema is an Avro schema, with its number in the registry.
type LocalSchema struct {
	Schema
	Number int
}

// Sample is a set of records to send, and the rows that must exist before.
type Sample struct {
	Name    string
	Rows    string // SQL
	Records []seedlog.Record
	// Case is the path of the case, whose records take effect in their order; "" if it is none. Then
	// says that its then must hold in the end: not if effects are called, which the case answers.
	Case   string
	Then   bool
	Outbox []string // tables that a relay empties
	// Again says that keyed records may be sent again.
	Again bool
}

// LocalOf reads a spec. It returns an error if the spec is invalid.
func LocalOf(spec Spec) (*Local, error) {
	s, err := readInOrder(spec)
	if err != nil {
		return nil, err
	}
	service := s.service
	dir := filepath.Dir(filepath.FromSlash(spec.Path))
	l := &Local{Migrations: filepath.Join(dir, filepath.FromSlash(service.Migrations.Dir)), Digest: s.schemas.Digest(s.Content)}
	tests := proof.Of(service)
	inCase := map[string]bool{} // events
	for _, c := range s.cases {
		sample := Sample{Name: "case " + c.name, Case: filepath.Join(dir, filepath.FromSlash(proof.CasesFolder), c.name+".yaml"), Then: true, Again: len(c.script.DeadLetters) == 0}
		for _, t := range service.Tables {
			if t.Outbox() {
				sample.Outbox = append(sample.Outbox, t.Name)
			}
		}
		for _, r := range c.script.Records {
			inCase[r.Event] = true
			if e := tests.Event(r.Event); e != nil && e.Effect != nil {
				sample.Then, sample.Again = false, false
			}
		}
		if !sample.Then {
			sample.Name += ", which is not compared with its then: your own effects are called"
		}
		l.add(tests, sample, c.script)
		tests.Given(c.script.Given)
	}
	for _, t := range service.Topics {
		topic := LocalTopic{Names: t.Kafka}
		for i, m := range t.OfRegistry() {
			topic.Schemas = append(topic.Schemas, LocalSchema{schemasOf(t)[i], int(m.Number)})
		}
		l.Topics = append(l.Topics, topic)
		if script, name := drawn(tests, t, inCase); len(script.Records) > 0 {
			l.add(tests, Sample{Name: name, Again: true}, script)
		}
	}
	return l, nil
}

// drawn returns the records of the test of a topic, if an event of it is in no case, with what
// they are. It leaves out records that the spec refuses, and those of a handler that cases call,
// because their values are made up.
func drawn(tests *proof.Service, t *model.Topic, inCase map[string]bool) (script proof.Script, name string) {
	var events []string
	refuse := ""
	for _, e := range t.Events {
		if !inCase[e.GoName] {
			events = append(events, e.GoName)
			if e.HasCode() {
				refuse = ", so your Go code may reject them"
			}
		}
	}
	if len(events) == 0 {
		return script, ""
	}
	script = tests.Topic(t)
	kept := script.Records[:0]
	for i, r := range script.Records {
		e := tests.Event(r.Event)
		if script.Dead[i] == "" && e != nil && (!e.HasCode() || !inCase[r.Event]) {
			r.Topic = r.In(t)
			kept = append(kept, r)
		}
	}
	script.Records = kept
	return script, "records of " + t.Kafka[0] + " for events in no case (" + strings.Join(events, ", ") + "): their values are made up" + refuse
}

func (l *Local) add(tests *proof.Service, sample Sample, script proof.Script) {
	rows, err := proof.Insert(script.Given)
	if err != nil {
		return // constants that the oracle accepted are valid
	}
	for i, r := range script.Records {
		t := tests.Reads(r.Topic)
		if sample.Case != "" && r.Time.IsZero() {
			script.Records[i].Time = proof.Start.Add(time.Duration(i) * time.Second)
		}
		script.Records[i].Key, script.Records[i].Value = seedlog.Packed(t, r.Key, r.Value)
		for j, h := range r.Headers {
			r.Headers[j].Value = seedlog.PackedHeader(t, h.Name, h.Value)
		}
	}
	sample.Rows, sample.Records = rows, script.Records
	l.Samples = append(l.Samples, sample)
}
