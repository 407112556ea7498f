package schema

import "time"

// Pos is a place in a spec file: Line and Col count from 1, Col and Width in code
// points. Width is the length of the token, for the caret; a token that goes on over
// further lines ends, for Width, with its first line. The zero Pos is no place.
type Pos struct {
	Line, Col, Width int
}

// Text is a text, a name or a word of a closed set.
type Text struct {
	Value  string
	Quoted bool // written in quotes or as a block scalar
	Key    Pos  // the key that holds it; zero in a list
	Pos    Pos
}

// Texts is a list of texts in spec order.
type Texts struct {
	Items []Text
	Key   Pos
	Pos   Pos // the whole list
}

// Int is a whole number.
type Int struct {
	Value int64
	Text  string
	Key   Pos
	Pos   Pos
}

// Bool is true or false.
type Bool struct {
	Value bool
	Key   Pos
	Pos   Pos
}

// Duration is a whole number and a unit; Text is as written ("24h").
type Duration struct {
	Value time.Duration
	Text  string
	Key   Pos
	Pos   Pos
}

// Size is a whole number and KiB or MiB; Text is as written ("4MiB").
type Size struct {
	Value int64 // bytes
	Text  string
	Key   Pos
	Pos   Pos
}

// Doc is what a named thing says about itself. GoName is nil where none is given.
type Doc struct {
	Description *Text
	Deprecated  *Text
	GoName      *Text
}

// Spec is one service spec. A pointer is nil and a slice is empty if the key is
// absent or was refused; in the second case Broken is set.
type Spec struct {
	File        string // path as given
	Consumer    *Text
	Package     *Text
	Description *Text
	Examples    *Text // path of the sample records
	Types       []*Type
	TablesKey   Pos // the key "tables"; zero if absent
	Tables      []*Table
	Topics      []*Topic
	OnFailure   *FailurePolicy
	Limits      *Limits
	Migrations  *Migrations
	Broken      bool
}

// FailurePolicy is one on_failure map.
type FailurePolicy struct {
	Key            Pos
	Pos            Pos
	Retries        *Int
	InitialBackoff *Duration
	MaxBackoff     *Duration
	GiveUp         *Text // dead_letter or stop
	StopAfter      *Int
	Keep           *Duration
	Broken         bool
}

// Limits is the limits map; nil means the default of docs/spec.md.
type Limits struct {
	Key              Pos
	Pos              Pos
	BatchEvents      *Int
	BatchBytes       *Size
	BatchWait        *Duration
	BatchTimeout     *Duration
	EventTimeout     *Duration
	StatementTimeout *Duration
	LockTimeout      *Duration
	MaxPollInterval  *Duration
	MaxPayload       *Size
	MaxDepth         *Int
	Broken           bool
}

// Migrations is the migrations map.
type Migrations struct {
	Key    Pos
	Pos    Pos
	Dir    *Text
	Format *Text // sql
	Broken bool
}
