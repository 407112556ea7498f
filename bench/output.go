package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
	var bars []bar
	code := version(ctx)
	for _, one := range wanted {
		f, err := one.figure(ctx, r)
		if err != nil {
			return err
		}
		fmt.Println(one.line(f))
		e := one.entry(f, r.conditions(one), code)
		if err := json.NewEncoder(file).Encode(e); err != nil {
			return err
		}
		now = append(now, e)
		if one.chart != nil {
			one.chart.figure = f
			bars = append(bars, *one.chart)
		}
	}
	if o.compare != "" {
		if err := writeComparison(os.Stdout, now, then); err != nil {
			return err
		}
	}
	if o.chart == "" {
		return nil
	}
	return os.WriteFile(o.chart, []byte(drawing(bars)), 0o644)
}

// files prints the rows of a file beside those of -compare.
func (o output) files(args []string) error {
	if len(args) != 1 || o.compare == "" {
		return fmt.Errorf("want -compare THEN NOW, not the arguments %q", args)
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
