package syntax

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Text is a text, a name or a word of a closed set.
type Text struct {
	Value  string
	Quoted bool // written in quotes or as a block scalar
	Key    Pos  // the key that holds it; zero in a list
	Pos    Pos
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

// text reads any text.
func (w *walker) text(e entry) (*Text, bool) {
	if !w.isScalar(e, "a string") {
		return nil, false
	}
	return &Text{Value: e.node.Text, Quoted: e.node.Quoted, Key: e.key, Pos: e.node.Pos}, true
}

// full reads a text that is not empty.
func (w *walker) full(e entry) (*Text, bool) {
	t, ok := w.text(e)
	if ok && strings.TrimSpace(t.Value) == "" {
		w.ds.Add(t.Pos, "E106", e.what+" must not be an empty text", "")
		return nil, false
	}
	return t, ok
}

// word reads a text out of a closed set.
func (w *walker) word(e entry, set []string) (*Text, bool) {
	if !w.isScalar(e, oneOf(set)) {
		return nil, false
	}
	t, ok := w.full(e)
	switch {
	case !ok, slices.Contains(set, t.Value):
		return t, ok
	case !w.variable(t.Pos, t.Value):
		hint := "allowed: " + strings.Join(set, ", ")
		if word := meant(t.Value, set); word != "" {
			hint = `did you mean "` + word + `"? ` + hint
		}
		w.ds.Add(t.Pos, "E111", e.what+" cannot be "+quote(t.Value), hint)
	}
	return nil, false
}

func oneOf(set []string) string {
	if len(set) == 1 {
		return set[0]
	}
	return "one of " + strings.Join(set, ", ")
}

func (w *walker) boolean(e entry) (*Bool, bool) {
	t, ok := w.scalar(e, "true or false", "write true or false", func(s string) bool { return s == "true" || s == "false" })
	if !ok {
		return nil, false
	}
	return &Bool{Value: t.Text == "true", Key: e.key, Pos: t.Pos}, true
}

// scalar reads a text that must satisfy fits; it reports E108 with want otherwise.
func (w *walker) scalar(e entry, want, hint string, fits func(string) bool) (*Node, bool) {
	if !w.isScalar(e, want) {
		return nil, false
	}
	if text := e.node.Text; !fits(text) {
		if !w.variable(e.node.Pos, text) {
			w.ds.Add(e.node.Pos, "E108", fmt.Sprintf("%s is not %s: %s", e.what, want, quote(text)), hint)
		}
		return nil, false
	}
	return e.node, true
}

var (
	wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	likeNumber  = regexp.MustCompile(`^[-+.]?[0-9]`)
	durationRE  = regexp.MustCompile(`^(0|[1-9][0-9]*)(ms|s|m|h|d)$`)
	sizeRE      = regexp.MustCompile(`^(0|[1-9][0-9]*)(KiB|MiB)$`)
)

func (w *walker) outOfRange(n *Node, what, low, high string) {
	w.ds.Add(n.Pos, "E708", fmt.Sprintf("%s must be between %s and %s, not %s", what, low, high, n.Text), "")
}

func (w *walker) integer(e entry, low, high int64) (*Int, bool) {
	hint := ""
	if likeNumber.MatchString(e.node.Text) {
		hint = "write decimal digits only, without leading zeros: 1000"
	}
	n, ok := w.scalar(e, "a whole number", hint, wholeNumber.MatchString)
	if !ok {
		return nil, false
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || v < low || v > high {
		w.outOfRange(n, e.what, strconv.FormatInt(low, 10), strconv.FormatInt(high, 10))
		return nil, false
	}
	return &Int{Value: v, Text: n.Text, Key: e.key, Pos: n.Pos}, true
}

// units of durations and sizes.
var (
	durationUnits = map[string]int64{
		"ms": int64(time.Millisecond), "s": int64(time.Second), "m": int64(time.Minute),
		"h": int64(time.Hour), "d": 24 * int64(time.Hour),
	}
	sizeUnits = map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20}
)

// measure reads a whole number and a unit between low and high, both written likewise.
func (w *walker) measure(e entry, want, hint string, re *regexp.Regexp, units map[string]int64, low, high string) (*Node, int64, bool) {
	n, ok := w.scalar(e, want, hint, re.MatchString)
	if !ok {
		return nil, 0, false
	}
	amount := func(text string) (int64, bool) {
		m := re.FindStringSubmatch(text)
		v, err := strconv.ParseInt(m[1], 10, 64)
		unit := units[m[2]]
		return v * unit, err == nil && v <= (1<<63-1)/unit
	}
	v, fits := amount(n.Text)
	least, _ := amount(low)
	most, _ := amount(high)
	if !fits || v < least || v > most {
		w.outOfRange(n, e.what, low, high)
		return nil, 0, false
	}
	return n, v, true
}

func (w *walker) duration(e entry, low, high string) (*Duration, bool) {
	n, v, ok := w.measure(e, "a duration", "write a whole number and a unit: 250ms, 30s, 5m, 12h, 8d", durationRE, durationUnits, low, high)
	if !ok {
		return nil, false
	}
	return &Duration{Value: time.Duration(v), Text: n.Text, Key: e.key, Pos: n.Pos}, true
}

func (w *walker) size(e entry, low, high string) (*Size, bool) {
	n, v, ok := w.measure(e, "a size", "write a whole number and a unit: 512KiB, 4MiB", sizeRE, sizeUnits, low, high)
	if !ok {
		return nil, false
	}
	return &Size{Value: v, Text: n.Text, Key: e.key, Pos: n.Pos}, true
}
