package generator

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/output"
	"github.com/idemgen/idemgen/generator/seedlog"
	"github.com/idemgen/idemgen/generator/sqlcode"
)

// The generated test of a topic sends its log to partition 0, from offset 0, one second
// between two records. What the tables hold then is computed under the same assumption.
var logStart = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// testFiles renders the rows that are there before the log of a topic, if there are any, and
// the rows and dead letters that the log must leave behind.
func testFiles(in *oracle.Interpreter, t *model.Topic, before []model.Row, log []seedlog.Record) ([]output.File, error) {
	var files []output.File
	before = slices.DeleteFunc(before, func(r model.Row) bool { return in.Insert(r) != nil }) // it is there already
	if len(before) > 0 {
		sql, err := sqlcode.InsertRows(before)
		if err != nil {
			return nil, fmt.Errorf("rows for the test of topic %s: %w", t.Name, err)
		}
		files = append(files, output.File{
			Path: rowsFile(t), Policy: output.Owned,
			Data: []byte("-- " + output.Marker + "\n-- Rows that topic " + t.Name + " does not make and its events need.\n" + sql),
		})
	}
	for i, r := range log {
		record := oracle.Record{
			Topic: t.Name, Offset: int64(i), Time: logStart.Add(time.Duration(i) * time.Second),
			Key: r.Key, Value: r.Value,
		}
		for _, h := range r.Headers {
			record.Headers = append(record.Headers, oracle.Header(h))
		}
		in.Apply(record)
	}
	return append(files, output.File{
		Path:   path.Join("testdata", "idem_"+t.FileName+"_expected.txt"),
		Policy: output.Owned,
		Data:   append([]byte("# "+output.Marker+"\n# dead letters: partition offset class path\n"), in.Expected()...),
	}), nil
}

func rowsFile(t *model.Topic) string { return path.Join("testdata", "idem_"+t.FileName+"_rows.sql") }
