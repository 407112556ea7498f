package generator

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/oracle"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/seedlog"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
)

// The generated test of an entry sends its log to partition 0 of its topics, from offset 0, one
// second between two records. What the tables hold then is computed under the same assumption.
var logStart = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// testData is what a generated test starts from, and what it must end with: that of a topic, or a
// case.
type testData struct {
	source   string         // who made it, for the first line of the log
	digest   string         // of the file that it was made of; "" if that is the spec
	topics   []*model.Topic // of the log
	stem     string         // what the names of its files begin with
	before   []model.Row    // there before the log
	about    string         // what the rows before are for
	log      []testRecord
	expected []byte
}

// testRecord is a record of the log, and what becomes of it.
type testRecord struct {
	seedlog.Record
	deadLetter string // class and place; "" if it is none
}

// TestData is the files of a topic's generated test, made of these rows and records in place of
// those that generate makes: [seedlog.Log].
func TestData(s *model.Service, t *model.Topic, rows []model.Row, log []seedlog.Record) ([]output.File, error) {
	return newTestData(oracle.New(s), s, t, rows, log).files()
}

// newTestData applies the log of a topic. What is there already is not inserted again, and a
// record that would halt the partition is left out: the log's author knows less of values than
// the interpreter.
func newTestData(in *oracle.Interpreter, s *model.Service, t *model.Topic, rows []model.Row, log []seedlog.Record) testData {
	d := testData{
		source: s.Source + ", topic " + t.Name, topics: []*model.Topic{t}, stem: "testdata/idem_" + t.FileName,
		about: "Rows that topic " + t.Name + " does not make and its events need.",
	}
	for _, r := range rows {
		if in.Insert(r) == nil {
			d.before = append(d.before, r)
		}
	}
	next := map[string]int64{} // offset, by topic
	for _, r := range log {
		i := len(d.log)
		record := oracle.Record{
			Topic: r.In(t), Offset: next[r.In(t)], Time: logStart.Add(time.Duration(i) * time.Second),
			Key: r.Key, Value: seedlog.Packed(t, r.Value), Result: r.Result,
		}
		if !r.Time.IsZero() {
			record.Time = r.Time
		}
		for _, h := range r.Headers {
			record.Headers = append(record.Headers, oracle.Header(h))
		}
		out := in.Apply(record)
		if out.Kind == oracle.Stop {
			in.Release(record.Topic, 0)
			continue
		}
		next[record.Topic]++
		d.log = append(d.log, testRecord{Record: r, deadLetter: out.DeadLetter()})
	}
	d.expected = in.Expected()
	return d
}

// files renders the log, the rows that are there before it, if there are any, and the rows that it
// must leave behind.
func (d testData) files() ([]output.File, error) {
	var files []output.File
	if len(d.before) > 0 {
		sql, err := sqlcode.InsertRows(d.before)
		if err != nil {
			return nil, fmt.Errorf("rows for the test of %s: %w", d.source, err)
		}
		files = append(files, output.File{
			Path: d.rowsFile(), Policy: output.Owned,
			Data: []byte("-- " + output.Marker + "\n-- " + d.about + "\n" + sql),
		})
	}
	return append(files, output.File{
		Path: d.stem + "_log.jsonl", Policy: output.Owned, Data: d.logLines(),
	}, output.File{
		Path:   d.stem + "_expected.txt",
		Policy: output.Owned,
		Data:   append([]byte("# "+output.Marker+"\n"), d.expected...),
	}), nil
}

// rowsFile names the file with the rows; "" if there are none.
func (d testData) rowsFile() string {
	if len(d.before) == 0 {
		return ""
	}
	return d.stem + "_rows.sql"
}
