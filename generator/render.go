package generator

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/oracle"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/seedlog"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
)

// render renders every Owned and Ledger file of the spec.
func (u *unit) render() error {
	migrations, err := u.migrations(sqlcode.RuntimeParts())
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	in := oracle.New(u.service)
	tests := u.testData(in)
	code, err := gocode.Render(u.service, gocode.SQL{Step: sqlcode.Step, Table: sqlcode.TableName}, gocode.Tests{
		Rows:    func(t *model.Topic) string { return tests[t].rowsFile() },
		Columns: func(t *model.Table) []string { return in.Columns(t.Name) },
		Cases:   scaffold.CasesFolder,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	for _, f := range code {
		u.files = append(u.files, output.File{Path: f.Path, Policy: output.Owned, Data: f.Content})
	}
	if err := u.externalTables(); err != nil {
		return err
	}
	for _, t := range u.service.Topics {
		files, err := tests[t].files()
		if err != nil {
			return fmt.Errorf("%s: %w", u.Path, err)
		}
		u.files = append(u.files, files...)
	}
	caseFiles, err := u.cases.render(u.service)
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	u.files = append(u.files, caseFiles...)
	u.files = append(u.files, migrations...)
	if u.namesSchemas() {
		u.files = append(u.files, editorFiles()...)
	}
	u.files = append(u.files, output.File{Path: state.File, Policy: output.Owned, Data: u.next.Render()})
	return nil
}

// testData makes the data of the test of each topic, topics side by side.
func (u *unit) testData(in *oracle.Interpreter) map[*model.Topic]testData {
	topics := u.service.Topics
	made := make([]testData, len(topics))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, t := range topics {
		free <- struct{}{}
		all.Go(func() {
			rows, log := seedlog.Log(u.service, t)
			made[i] = newTestData(in.Fresh(), u.service, t, rows, log)
			<-free
		})
	}
	all.Wait()
	tests := map[*model.Topic]testData{}
	for i, t := range topics {
		tests[t] = made[i]
	}
	return tests
}
