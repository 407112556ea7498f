package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"text/tabwriter"
)

// entry is a row of a run in a file: a line of JSON.
type entry struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	Value        float64 `json:"value"`
	Least        float64 `json:"least"`
	Most         float64 `json:"most"`
	LessIsBetter bool    `json:"less_is_better,omitempty"`
	Ours         cost    `json:"ours,omitzero"`
	Theirs       cost    `json:"theirs,omitzero"`
	Conditions   string  `json:"conditions"`
	Version      string  `json:"version"`
}

func (r row) entry(f figure, conditions, version string) entry {
	return entry{
		ID: r.id, Name: r.name, Value: f.value, Least: f.least, Most: f.most, LessIsBetter: r.goal.sign == "<=",
		Ours: f.ours, Theirs: f.theirs, Conditions: conditions, Version: version,
	}
}

// label tells rows apart: several have one id.
func (e entry) label() string { return e.ID + " " + e.Name }

// worse reports whether a figure is worse than another one by more than the rounds of both were
// apart: not even its best round is as good as the other one's worst.
func (e entry) worse(then entry) bool {
	if e.LessIsBetter {
		return e.Least > then.Most
	}
	return e.Most < then.Least
}

// version names the code: by its tags and commit, or as the go command did when it built this.
func version(ctx context.Context) string {
	if out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output(); err == nil {
		return strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// readEntries reads a file of rows.
func readEntries(file string) (all []entry, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var e entry
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", file, len(all)+1, err)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no rows", file)
	}
	return all, nil
}

// writeComparison prints rows beside those of another run, and says which are worse.
func writeComparison(out io.Writer, now, then []entry) error {
	before := map[string]entry{}
	for _, e := range then {
		before[e.label()] = e
	}
	fmt.Fprintf(out, "# now:  %s; %s\n# then: %s; %s\n", now[0].Version, now[0].Conditions, then[0].Version, then[0].Conditions)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "row\tnow\tthen\tprocess now\tthen\tPostgres now\tthen\t")
	for _, e := range now {
		b, ok := before[e.label()]
		if !ok {
			fmt.Fprintf(table, "%s\t%s\tno such row\t\t\t\t\t\n", e.label(), e.text())
			continue
		}
		mark := ""
		if e.worse(b) {
			mark = "worse"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.label(), e.text(), b.text(), sides(e.Ours.Process, e.Theirs.Process),
			sides(b.Ours.Process, b.Theirs.Process), sides(e.Ours.Postgres, e.Theirs.Postgres), sides(b.Ours.Postgres, b.Theirs.Postgres), mark)
	}
	return table.Flush()
}

func (e entry) text() string { return fmt.Sprintf("%.2f (%.2f to %.2f)", e.Value, e.Least, e.Most) }
