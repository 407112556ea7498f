package generator

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Local is what one must know of a spec to run its service on one machine.
type Local struct {
	Migrations string // their folder
	Topics     []LocalTopic
}

// LocalTopic is a topic that the service reads.
type LocalTopic struct {
	Names []string // in Kafka
	Log   string   // file with the records of the topic's generated test
}

// LocalOf reads a spec. One that is not in order is an error.
func LocalOf(spec Spec) (l *Local, err error) {
	u, err := open(spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, u.folder.Close()) }()
	if err := read([]*unit{u}); err != nil {
		return nil, err
	}
	if u.service == nil {
		return nil, fmt.Errorf("%s is not in order: idemgen check says why", spec.Path)
	}
	dir := filepath.Dir(filepath.FromSlash(spec.Path))
	l = &Local{Migrations: filepath.Join(dir, filepath.FromSlash(u.service.Migrations.Dir))}
	for _, t := range u.service.Topics {
		l.Topics = append(l.Topics, LocalTopic{Names: t.Kafka, Log: filepath.Join(dir, "testdata", "idem_"+t.FileName+"_log.jsonl")})
	}
	return l, nil
}
