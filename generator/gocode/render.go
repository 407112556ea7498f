package gocode

import (
	"errors"
	"fmt"
	"sync"

	"github.com/idemgen/idemgen/generator/model"
)

// File is one generated file.
type File struct {
	Path    string // relative to the folder of the spec, slash-separated
	Content []byte // formatted
}

// Statements returns the SQL text of a step.
type Statements func(*model.Step) (string, error)

// Tests is what generated tests hold besides the topic itself.
type Tests struct {
	// Log returns the records of a topic's test, in order.
	Log func(*model.Topic) []Record
	// Rows names the file with the rows that are there before the log; "" if there are none.
	Rows func(*model.Topic) string
	// Columns names the columns of a table that tests compare: all but those that the
	// database fills.
	Columns func(*model.Table) []string
}

// Render returns all Go files of a service package, in a fixed order.
func Render(s *model.Service, sql Statements, tests Tests) ([]File, error) {
	p, err := newPkg(s, sql)
	if err != nil {
		return nil, err
	}
	files := []*file{p.serviceFile()}
	for _, t := range s.Topics {
		f, err := p.topicFile(t)
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", t.Name, err)
		}
		files = append(files, f)
	}
	files = append(files, p.sharedTestFile(tests))
	for _, t := range s.Topics {
		files = append(files, p.testFile(t, tests))
	}
	return renderAll(files)
}

// renderAll formats the files side by side: formatting is most of a run's time.
func renderAll(files []*file) ([]File, error) {
	out, errs := make([]File, len(files)), make([]error, len(files))
	var all sync.WaitGroup
	for i, f := range files {
		all.Go(func() { out[i], errs[i] = f.render() })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// pkg is the package that is being written.
type pkg struct {
	service  *model.Service
	sql      map[*model.Step]string // text
	appended map[*model.Type]bool   // object types that are written as JSON
	decoded  map[*model.Type]bool   // types that are read
}

func newPkg(s *model.Service, sql Statements) (*pkg, error) {
	p := &pkg{service: s, sql: map[*model.Step]string{}}
	for _, t := range s.Topics {
		for _, step := range t.Flush {
			text, err := sql(step)
			if err != nil {
				return nil, err
			}
			p.sql[step] = text
		}
	}
	p.findTypes()
	return p, nil
}

// handles reports whether any event has Go code.
func (p *pkg) handles() bool {
	for _, t := range p.service.Topics {
		if topicHandles(t) {
			return true
		}
	}
	return false
}

func topicHandles(t *model.Topic) bool {
	for _, e := range t.Events {
		if e.Handle {
			return true
		}
	}
	return false
}
