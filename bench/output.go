package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
)

// output says what becomes of the rows of a run, besides their lines on standard output. An empty
// name of a file is none.
type output struct {
	chart   string // SVG
	rows    string // lines of JSON
	compare string // rows of another run
}

// write measures rows and writes them.
func (o output) write(ctx context.Context, wanted []row, s size) (err error) {
	var then []entry
	if o.compare != "" {
		if then, err = readEntries(o.compare); err != nil {
			return err
		}
	}
	file, err := create(o.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, err := measure(ctx, wanted, s)
	if err != nil {
		return err
	}
	var now []entry
	code := version(ctx)
	var failed error
	for _, one := range wanted {
		f, err := one.figure(ctx, r)
		if err != nil { // the other rows took their time, too
			failed = errors.Join(failed, fmt.Errorf("%s: %w", one.id, err))
			continue
		}
		fmt.Println(one.line(f))
		e := one.entry(f, r.conditions(one), code)
		if err := json.NewEncoder(file).Encode(e); err != nil {
			return err
		}
		now = append(now, e)
	}
	if failed != nil {
		return failed
	}
	if o.compare != "" {
		if err := writeComparison(os.Stdout, now, then); err != nil {
			return err
		}
	}
	return o.draw(now)
}

// draw writes the chart of the rows that it shows.
func (o output) draw(entries []entry) error {
	if o.chart == "" {
		return nil
	}
	var bars []bar
	for _, e := range entries {
		i := slices.IndexFunc(rows, func(r row) bool { return r.id == e.ID && r.name == e.Name })
		if i >= 0 && rows[i].chart != nil {
			b := *rows[i].chart
			b.figure = figure{value: e.Value, least: e.Least, most: e.Most}
			bars = append(bars, b)
		}
	}
	return os.WriteFile(o.chart, []byte(drawing(bars)), 0o644)
}

// files prints the rows of a file beside those of -compare, or draws the chart of a file.
func (o output) files(args []string) error {
	if len(args) == 1 && o.chart != "" && o.compare == "" {
		entries, err := readEntries(args[0])
		if err != nil {
			return err
		}
		return o.draw(entries)
	}
	if len(args) != 1 || o.compare == "" {
		return fmt.Errorf("want -compare THEN NOW or -chart FILE ROWS, not the arguments %q", args)
	}
	then, err := readEntries(o.compare)
	if err != nil {
		return err
	}
	now, err := readEntries(args[0])
	if err != nil {
		return err
	}
	return writeComparison(os.Stdout, now, then)
}

// create creates a file; without a name, what is written is dropped.
func create(name string) (*os.File, error) {
	if name == "" {
		name = os.DevNull
	}
	return os.Create(name)
}
