package generator

import (
	"path/filepath"

	"github.com/idemgen/idemgen/internal/gen/seedlog"
)

// Local is what one must know of a spec to run its service on one machine.
type Local struct {
	Migrations string // their folder
	Topics     []LocalTopic
}

// LocalTopic is a topic that the service reads.
type LocalTopic struct {
	Names []string            // in Kafka
	Log   string              // file with the records of the topic's generated test
	Pack  func([]byte) []byte // what a value of a log is sent as
	// Schema is what a registry has to have under a number, so that what Pack makes is read; "" for
	// nothing.
	Schema string
	Number int
}

// LocalOf reads a spec. One that is not in order is an error.
func LocalOf(spec Spec) (*Local, error) {
	service, err := serviceOf(spec)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(filepath.FromSlash(spec.Path))
	l := &Local{Migrations: filepath.Join(dir, filepath.FromSlash(service.Migrations.Dir))}
	for _, t := range service.Topics {
		topic := LocalTopic{
			Names: t.Kafka, Log: filepath.Join(dir, "testdata", "idem_"+t.FileName+"_log.jsonl"),
			Pack: func(value []byte) []byte { return seedlog.Packed(t, value) },
		}
		if m := t.Payload.Messages; m.Registry() {
			topic.Schema, topic.Number = string(m.Schema), int(m.Number)
		}
		l.Topics = append(l.Topics, topic)
	}
	return l, nil
}
