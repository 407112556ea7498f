package generator

import (
	"path/filepath"

	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// Local is what one must know of a spec to run its service on one machine.
type Local struct {
	Migrations string // their folder
	Topics     []LocalTopic
	// Samples are the team's cases, whose records its handlers are made for, and then the records
	// that the generated tests draw.
	Samples []Sample
}

// LocalTopic is a topic that the service reads.
type LocalTopic struct {
	Names []string // in Kafka
	// Schema is what a registry must have under a number, so that the samples can be read; "" for
	// nothing.
	Schema string
	Number int
}

// Sample is records to send, and rows that must be there before.
type Sample struct {
	Name    string
	Rows    string // SQL
	Records []seedlog.Record
}

// LocalOf reads a spec. One that is not in order is an error.
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
	}
	for _, t := range service.Topics {
		topic := LocalTopic{Names: t.Kafka}
		if m := t.Payload.Messages; m.Registry() {
			topic.Schema, topic.Number = string(m.Schema), int(m.Number)
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
		return // a constant that the oracle took is in order
	}
	for i, r := range script.Records {
		script.Records[i].Value = seedlog.Packed(tests.Reads(r.Topic), r.Value)
	}
	l.Samples = append(l.Samples, Sample{name, rows, script.Records})
}
