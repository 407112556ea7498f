package generator

import (
	"path/filepath"

	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// Local describes what is needed to run the service of a spec on one machine.
type Local struct {
	Migrations string // folder
	Topics     []LocalTopic
	// Samples are the records of the cases, which the handlers can process, followed by the
	// records that the generated tests draw.
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
}

// LocalOf reads a spec. It returns an error if the spec is invalid.
func LocalOf(spec Spec) (*Local, error) {
	s, err := readInOrder(spec)
	if err != nil {
		return nil, err
	}
	service := s.service
	dir := filepath.Dir(filepath.FromSlash(spec.Path))
	l := &Local{Migrations: filepath.Join(dir, filepath.FromSlash(service.Migrations.Dir))}
	tests := proof.Of(service)
	for _, c := range s.cases {
		l.add(tests, "case "+c.name, c.script)
		tests.Given(c.script.Given)
	}
	for _, t := range service.Topics {
		topic := LocalTopic{Names: t.Kafka}
		for i, m := range t.OfRegistry() {
			topic.Schemas = append(topic.Schemas, LocalSchema{schemasOf(t)[i], int(m.Number)})
		}
		l.Topics = append(l.Topics, topic)
		script := tests.Topic(t)
		for i := range script.Records {
			script.Records[i].Topic = script.Records[i].In(t)
		}
		l.add(tests, "records of the test of "+t.Kafka[0]+", with values that are made up: some become dead letters", script)
	}
	return l, nil
}

func (l *Local) add(tests *proof.Service, name string, script proof.Script) {
	rows, err := proof.Insert(script.Given)
	if err != nil {
		return // constants that the oracle accepted are valid
	}
	for i, r := range script.Records {
		t := tests.Reads(r.Topic)
		script.Records[i].Key, script.Records[i].Value = seedlog.Packed(t, r.Key, r.Value)
		for j, h := range r.Headers {
			r.Headers[j].Value = seedlog.PackedHeader(t, h.Name, h.Value)
		}
	}
	l.Samples = append(l.Samples, Sample{name, rows, script.Records})
}
