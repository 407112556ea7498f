package generator

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/idemgen/idemgen/generator/gocode"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/output"
	"github.com/idemgen/idemgen/generator/seedlog"
	"github.com/idemgen/idemgen/generator/sqlcode"
	"github.com/idemgen/idemgen/generator/state"
)

// render renders every Owned and Ledger file of the spec.
func (u *unit) render() error {
	in := oracle.New(u.service)
	logs, testdata, err := u.testData(in)
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	code, err := gocode.Render(u.service, sqlcode.Step, gocode.Tests{
		Log: func(t *model.Topic) []gocode.Record { return testLog(logs[t]) },
		Rows: func(t *model.Topic) string {
			if slices.ContainsFunc(testdata, func(f output.File) bool { return f.Path == rowsFile(t) }) {
				return rowsFile(t)
			}
			return ""
		},
		Columns: func(t *model.Table) []string { return in.Columns(t.Name) },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	for _, f := range code {
		u.files = append(u.files, output.File{Path: f.Path, Policy: output.Owned, Data: f.Content})
	}
	u.files = append(u.files, testdata...)
	migrations, err := u.migrations()
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	u.files = append(u.files, migrations...)
	u.files = append(u.files, output.File{Path: state.File, Policy: output.Owned, Data: u.next.Render()})
	return nil
}

// testData makes the log of each topic, and the files beside it, topics side by side.
func (u *unit) testData(in *oracle.Interpreter) (map[*model.Topic][]seedlog.Record, []output.File, error) {
	topics := u.service.Topics
	made, files, errs := make([][]seedlog.Record, len(topics)), make([][]output.File, len(topics)), make([]error, len(topics))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, t := range topics {
		free <- struct{}{}
		all.Go(func() {
			var before []model.Row
			before, made[i] = seedlog.Log(u.service, t)
			files[i], errs[i] = testFiles(in.Fresh(), t, before, made[i])
			<-free
		})
	}
	all.Wait()
	logs := map[*model.Topic][]seedlog.Record{}
	for i, t := range topics {
		logs[t] = made[i]
	}
	return logs, slices.Concat(files...), errors.Join(errs...)
}

// testLog is the log as gocode takes it: the two packages do not know each other.
func testLog(log []seedlog.Record) []gocode.Record {
	records := make([]gocode.Record, len(log))
	for i, r := range log {
		records[i] = gocode.Record{Event: r.Event, Keyed: r.Keyed, Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			records[i].Headers = append(records[i].Headers, gocode.Header(h))
		}
	}
	return records
}
