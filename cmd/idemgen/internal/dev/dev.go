// Package dev runs a service on this machine: with a Postgres and a broker of its own, its
// migrations applied, records of its generated tests sent to it, and again after each change of
// its files. It must not import any package of this module but runtime/idemtest.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Service is what is run.
type Service struct {
	Dir        string // folder of the spec, inside a Go module
	Consumer   string
	Migrations string // folder of the migrations
	Topics     []Topic
	Program    string // package path or folder of its main; "" is the only one that imports the spec's package
	// Generate makes the generated files follow the spec. Its error is one that a change of the
	// spec can mend.
	Generate func(context.Context) error
}

// Topic is a topic that the service reads.
type Topic struct {
	Names []string // in Kafka
	Log   string   // file with the records of its generated test
}

// Options say how.
type Options struct {
	Database   string        // URL of a database to use; "" starts a server, whose data is lost in the end
	Brokers    string        // addresses of brokers to use, which have the topics; "" starts one
	Partitions int32         // of each topic
	Pause      time.Duration // between two records; 0 sends none
	Out        io.Writer     // what dev and the service say
}

const (
	// settled is how long no file may have changed before the service is started again.
	settled = 300 * time.Millisecond
	// grace is how long a service may take to end.
	grace = 10 * time.Second
)

// Run runs the service until ctx ends.
func Run(ctx context.Context, s Service, o Options) (err error) {
	place, err := start(ctx, s, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.close()) }()
	root, err := moduleOf(ctx, s.Dir)
	if err != nil {
		return err
	}
	built, err := os.MkdirTemp("", "idemgen-dev-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built)) }()
	r := &run{Service: s, Options: o, place: place, files: watch{root: root}, binary: filepath.Join(built, "service"), started: make(chan struct{})}
	if o.Pause > 0 {
		sending, cancel := context.WithCancel(ctx)
		defer cancel()
		go r.send(sending)
	}
	for ctx.Err() == nil {
		r.once(ctx)
	}
	return nil
}

// run is a service that is run again and again.
type run struct {
	Service
	Options
	place  *place
	files  watch
	binary string

	started chan struct{} // closed when the service starts first
	starts  int           // of the service
}

// once brings everything up to date, runs the service, and returns when a file has changed or ctx
// has ended. A step that fails is told, and waits for the change that mends it.
func (r *run) once(ctx context.Context) {
	seen := r.files.now()
	err := r.Generate(ctx)
	if err == nil {
		seen = r.files.now() // generated files are no change
		err = r.place.migrate(ctx, r.Migrations)
	}
	if err == nil {
		err = r.build(ctx)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	if err != nil {
		if ctx.Err() == nil {
			r.say("%v", err)
		}
		done = nil
	} else {
		go func() { done <- r.serve(running) }()
	}
	changed := make(chan string, 1)
	go func() { changed <- r.files.changed(running, seen) }()
	for {
		select {
		case err := <-done:
			if ctx.Err() == nil {
				r.say("the service ended (%v); a change of a file starts it again", err)
			}
			done = nil
		case path := <-changed:
			if path != "" {
				r.say("%s changed", path)
			}
			stop()
			if done != nil {
				<-done
			}
			return
		}
	}
}

// say prints a line of dev's own.
func (r *run) say(format string, args ...any) { say(r.Out, format, args...) }

func say(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, "dev: "+format+"\n", args...)
}

// place is where a service runs.
type place struct {
	database string
	brokers  string
	postgres *idemtest.Postgres // nil if it is somebody else's
	broker   *idemtest.Broker   // nil if it is somebody else's
	applied  map[string]string  // migrations, by path: their text
}

func start(ctx context.Context, s Service, o Options) (*place, error) {
	p := &place{database: o.Database, brokers: o.Brokers, applied: map[string]string{}}
	var err error
	if p.database == "" {
		if p.postgres, err = idemtest.StartPostgres(ctx, idemtest.PostgresOptions{TCP: true}); err != nil {
			return nil, err
		}
		p.database = p.postgres.URL()
		if err := p.execute(ctx, filepath.Join(s.Dir, "testdata", "idem_external.sql")); err != nil { // tables of others
			return nil, errors.Join(err, p.close())
		}
	}
	if p.brokers == "" {
		topics := map[string]int32{}
		for _, t := range s.Topics {
			for _, name := range t.Names {
				topics[name] = o.Partitions
			}
		}
		if p.broker, err = idemtest.StartBroker(topics); err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.brokers = p.broker.Addr()
	}
	say(o.Out, "Postgres  psql '%s'", p.database)
	say(o.Out, "Kafka     kcat -b %s -L", p.brokers)
	return p, nil
}

func (p *place) close() (err error) {
	if p.broker != nil {
		p.broker.Close()
	}
	if p.postgres != nil {
		err = p.postgres.Close()
	}
	return err
}

// migrate applies the migrations that are new. A database of somebody else's has its own way.
func (p *place) migrate(ctx context.Context, dir string) (err error) {
	if p.postgres == nil {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		return err
	}
	fresh, err := os.MkdirTemp("", "idemgen-dev-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		before, known := p.applied[path]
		if known && before != string(text) {
			return fmt.Errorf("%s changed after it was applied: end dev and start it again, on an empty database", path)
		}
		if known {
			continue
		}
		texts[path] = string(text)
		if err := os.WriteFile(filepath.Join(fresh, filepath.Base(path)), text, 0o600); err != nil {
			return err
		}
	}
	if len(texts) == 0 {
		return nil
	}
	if err := p.postgres.Migrate(ctx, fresh); err != nil {
		return err
	}
	for path, text := range texts {
		p.applied[path] = text
	}
	return nil
}
