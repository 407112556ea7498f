// Package state is the generator's memory: idem.state.yaml, a reviewed file beside the
// spec. It holds what the spec alone cannot tell: the tables as the last migration left
// them, which migrations were written, and what makes records copies of one event.
//
// What databases and other versions hold is kept as text: a definition that reads the same is
// the same. The package does no I/O. It must not import any package of this module but
// definition, model and syntax.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// File is the name of the state file.
const File = "idem.state.yaml"

// version is the version of the file's format.
const version = "1"

// State is the content of the state file.
type State struct {
	Source     string // file name of the spec
	Consumer   string
	Identity   uint32   // what makes records copies of one event: the hash that the service writes
	Knows      []uint32 // what it and earlier versions wrote, in order: it may go on behind them
	Keys       []Key
	Tables     []Table
	Migrations []Migration // in the order in which they are applied
	Dispatch   []Dispatch
}

// Key is what decides whether two records are the same event.
type Key struct {
	Topic, Event string
	Space        string   // hex of what is hashed before the parts
	Parts        []string // in order
	Copies       string   // same_partition, or "" for anywhere
	Window       time.Duration
	History      uint32 // hash of all earlier identities; 0 if there are none
	Gone         bool   // the event is not in the spec any more
}

// Table is one table as the last migration left it.
type Table struct {
	Name        string
	Columns     []Entry // in spec order
	PrimaryKey  string
	Unique      []string
	ForeignKeys []string
	Place       string // schema and name in the database, if the spec says them
}

// Entry is one named definition.
type Entry struct{ Name, Def string }

// Migration is one file of the migrations folder.
type Migration struct {
	Name string
	Sum  string // of its content; [ByHand] for a file of the team's own
}

// ByHand stands in place of the sum of a migration that idemgen did not write.
const ByHand = "by hand"

// Sum returns what the state keeps of a migration's content. Line endings do not count.
func Sum(content []byte) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(string(content), "\r\n", "\n")))
	return hex.EncodeToString(sum[:])
}

// Next returns the state after this run, without the migrations that the run adds. old is
// the state before it, nil at first.
func Next(old *State, s *model.Service) *State {
	next := &State{Source: s.Source, Consumer: s.Consumer, Keys: follow(old, s), Dispatch: dispatch(s)}
	next.epochs(old)
	next.Tables = tablesAfter(old, s)
	if old != nil {
		next.Migrations = append(next.Migrations, old.Migrations...)
	}
	return next
}
