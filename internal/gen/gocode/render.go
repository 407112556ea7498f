package gocode

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// File is one generated file.
type File struct {
	Path    string // relative to the folder of the spec, slash-separated
	Content []byte // formatted
}

// SQL is what generated code holds of SQL.
type SQL struct {
	Step  func(*model.Step) (string, error) // the statement of a step
	Table func(*model.Table) string         // what statements call a table, if not by its name in the spec
}

// Tests is what generated tests hold.
type Tests struct {
	Digest    string   // of the spec and its schemas
	Cases     string   // the folder of the cases
	Scenarios []string // of topics, by the names of their subtests
}

// Render returns all Go files of a service package, in a fixed order.
func Render(s *model.Service, sql SQL, tests Tests) ([]File, error) {
	p, err := newPkg(s, sql)
	if err != nil {
		return nil, err
	}
	files := []func() (*file, error){func() (*file, error) { return p.serviceFile(), nil }}
	for _, t := range s.Topics {
		files = append(files, func() (*file, error) {
			f, err := p.topicFile(t)
			if err != nil {
				return nil, fmt.Errorf("topic %s: %w", t.Name, err)
			}
			return f, nil
		})
	}
	return renderAll(append(files, func() (*file, error) { return p.testFile(tests), nil }))
}

// renderAll makes and formats the files side by side: that is most of a run's time.
func renderAll(files []func() (*file, error)) ([]File, error) {
	out, errs := make([]File, len(files)), make([]error, len(files))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, build := range files {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			f, err := build()
			if err == nil {
				out[i], err = f.render()
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// pkg is the package that is being written.
type pkg struct {
	service   *model.Service
	tableName func(*model.Table) string
	sql       map[*model.Step]string // text
	decoded   map[*model.Type]bool   // types that are read
	appended  map[*model.Type]bool   // object types that are written as JSON
}

func newPkg(s *model.Service, sql SQL) (*pkg, error) {
	p := &pkg{service: s, tableName: sql.Table, sql: map[*model.Step]string{}}
	for _, t := range s.Topics {
		for _, step := range t.Flush {
			text, err := sql.Step(step)
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
		if e.HasCode() {
			return true
		}
	}
	return false
}
