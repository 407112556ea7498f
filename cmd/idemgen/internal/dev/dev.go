// Package dev runs a service on this machine: with a Postgres and a broker of its own, its
// migrations applied, records of its cases and generated tests sent to it, and all that anew after
// each change of its files. It prints what the service sends, and empties its outbox.
//
// It must not import any package of this module but runtime/franz/producer, runtime/idem,
// runtime/idemtest, internal/kit/port, internal/kit/redistest, internal/visible and
// runtime/outbox.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/runtime/idem"
)

// Service is what is run.
type Service struct {
	Dir     string // folder of the spec, inside a Go module
	Program string // package path or folder of its main; "" is the only one that imports the spec's package
	// Generate makes the generated files follow the spec, and says what it asks for. Its error is
	// one that a change of the spec can mend.
	Generate func(context.Context) (Parts, error)
}

// Parts are what a spec asks for.
type Parts struct {
	Migrations string // folder of the migrations
	Topics     []Topic
	Samples    []Sample // what is sent, in this order
}

// Sample is records to send to a service with an empty database, and rows that must be there
// before.
type Sample struct {
	Name    string
	Rows    string // SQL; "" for none
	Records []Record
	// InOrder says that the records of a topic go to its first partition, and that each is sent when
	// those before have taken effect.
	InOrder bool
	// Check says how the database differs from what must be there in the end; nil if nothing says it.
	// If relayed, the program sends the events of the outbox itself, and deletes them.
	Check func(ctx context.Context, database string, relayed bool) (differences string, err error)
}

// Record is a record to send, with the Go name of its event.
type Record struct {
	Event   string
	Message idem.Message
	Again   bool // it may be sent a second time, which has no effect
}

// Topic is a topic that the service reads.
type Topic struct {
	Names   []string // in Kafka
	Schemas []Schema // what a registry must have, so that the samples can be read
}

// Schema is an Avro schema under a number.
type Schema struct {
	Of     string // "-value" or "-key"
	Text   string
	Number int
}

// Options say how.
type Options struct {
	// Database and Brokers are the URL of a database and the addresses of brokers to use, which
	// have tables and topics; nothing is sent to them. Both are "" for servers of dev's own.
	Database, Brokers string
	Partitions        int32         // of each topic
	Pause             time.Duration // between two records; 0 sends none
	Keep              bool          // the database and the log stay as they are after a change
	// Pages serves web pages of the database until the context ends, and returns their address. It is
	// called once, when the spec was in order for the first time.
	Pages func(ctx context.Context, database string) (address string, err error)
	Out   io.Writer // what dev and the service say
}

// run is a service that is run again and again.
type run struct {
	Service
	Options
	parts   Parts
	place   *place
	module  string // folder of the module that the service is in
	files   watch
	folder  string // of what is built
	builds  int
	linked  []string      // packages of what was built; nothing runs when it changes
	address string        // where the service answers over HTTP
	wait    time.Duration // how long a service may take to be ready
}

// Run runs the service until ctx ends. An error is one that no change of a file mends.
func Run(ctx context.Context, s Service, o Options) (err error) {
	r := &run{Service: s, Options: o, wait: patience}
	if r.module, err = moduleOf(ctx, s.Dir); err != nil {
		return err
	}
	r.files.roots = []string{r.module}
	if r.Program, err = r.main(ctx); err != nil {
		return err
	}
	if r.address, err = port.FreeAddr(); err != nil {
		return err
	}
	if r.folder, err = os.MkdirTemp("", "idemgen-dev-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.folder)) }()
	if r.place, err = start(ctx, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.place.close()) }()
	end := func() {} // of the service that runs
	running, pages := "", false
	defer func() { end() }()
	for ctx.Err() == nil {
		seen := r.files.now()
		parts, err := r.Generate(ctx)
		var binary string
		if err == nil {
			err = r.watchLinked(ctx)
		}
		if err == nil {
			seen = r.files.now() // generated files are no change
			r.say("building %s", r.Program)
			binary, err = r.build(ctx)
		}
		if err == nil {
			end() // what was built before runs until now
			end, r.parts, running = func() {}, parts, ""
			kept := false
			if r.linked, err = r.dependencies(ctx); err == nil && r.Keep {
				kept, err = r.keep(ctx)
			}
			if err == nil && !kept {
				err = r.fresh(ctx, len(r.samples()) < 2)
			} else if kept {
				r.say("kept the rows and the log; nothing is resent")
			}
			if err == nil && !pages {
				pages = true
				r.pages(ctx)
			}
			if err == nil {
				end, running = r.begin(ctx, binary, !kept), "the service continues unchanged; "
			}
		}
		if err != nil && ctx.Err() == nil {
			r.say("%v", err)
			r.say("%swaiting for a file to change", running)
		}
		if path := r.files.changed(ctx, seen); path != "" {
			r.say("%s changed", path)
		}
	}
	return nil
}

// watchLinked also watches the other modules of a workspace that the program links.
func (r *run) watchLinked(ctx context.Context) error {
	modules, err := r.modules(ctx)
	if err == nil {
		r.files.roots = append([]string{r.module}, modules...)
	}
	return err
}

// pages serves the web pages, without which the service runs all the same.
func (r *run) pages(ctx context.Context) {
	if r.Pages == nil {
		return
	}
	address, err := r.Pages(ctx, r.place.database)
	if err != nil {
		r.say("no pages: %v", err)
		return
	}
	r.say("Pages     %s", address)
}

// begin starts the service, and plays the samples, if it shall. What is returned ends it.
func (r *run) begin(ctx context.Context, binary string, send bool) (end func()) {
	playing, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.play(playing, binary, send)
	}()
	return func() {
		stop()
		<-ended
	}
}

// service is the program while it runs.
type service struct {
	running         context.Context // ends when the program does
	stop            context.CancelFunc
	served, relayed chan struct{}
	relaying        sync.Once
}

// start runs the program until it is ended.
func (r *run) start(ctx context.Context, binary string) *service {
	s := &service{served: make(chan struct{}), relayed: make(chan struct{})}
	s.running, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.served)
		if err := r.serve(s.running, binary); s.running.Err() == nil {
			r.say("the service ended (%v); nothing more is sent to it", err)
			r.say("waiting for a file to change")
		}
		s.stop()
	}()
	return s
}

// sendOutbox begins to send the events of the outbox.
func (r *run) sendOutbox(s *service) {
	s.relaying.Do(func() {
		go func() {
			defer close(s.relayed)
			if err := r.relay(s.running); err != nil && s.running.Err() == nil {
				r.say("nothing more is sent from the outbox: %v", err)
			}
		}()
	})
}

func (s *service) end() {
	s.stop()
	<-s.served
	s.relaying.Do(func() { close(s.relayed) })
	<-s.relayed
}

// say prints a line of dev's own.
func (r *run) say(format string, args ...any) { say(r.Out, format, args...) }

func say(out io.Writer, format string, args ...any) { fmt.Fprintf(out, "dev: "+format+"\n", args...) }

// data is a file of the service's tests.
func (s *Service) data(name string) string { return filepath.Join(s.Dir, "testdata", name) }
