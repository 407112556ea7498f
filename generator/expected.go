package generator

import (
	"path"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/output"
	"github.com/idemgen/idemgen/generator/seedlog"
)

// The generated test of a topic sends its log to partition 0, from offset 0, one second
// between two records. What the tables hold then is computed under the same assumption.
var logStart = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// expected renders the rows and dead letters that the log of a topic must leave behind.
func expected(s *model.Service, t *model.Topic, log []seedlog.Record) output.File {
	in := oracle.New(s)
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
	return output.File{
		Path:   path.Join("testdata", "idem_"+t.FileName+"_expected.txt"),
		Policy: output.Owned,
		Data:   append([]byte("# "+output.Marker+"\n# dead letters: partition offset class path\n"), in.Expected()...),
	}
}
