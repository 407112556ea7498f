package avromsg

import (
	"slices"
	"strings"
	"sync"

	"github.com/twmb/avro"
)

// Which types and fields of the schema read what was written with another one, by the rules of
// Avro 1.12 (Schema Resolution): named types by their names without namespaces, or by aliases.
// Beyond them, values that hold no others are left to the field of the event, which reads the
// JSON.

// answer ranks how a type that reads has the name of one that was written; 0 is that it has not,
// and the least other rank is the best.
func answer(reads, wrote *avro.SchemaNode) int {
	full, name := FullName(wrote), short(FullName(wrote))
	switch {
	case reads.Type != wrote.Type || reads.Type == "fixed" && reads.Size != wrote.Size:
		return 0
	case FullName(reads) == full:
		return 1
	case slices.Contains(aliases(reads), full):
		return 2
	case short(FullName(reads)) == name:
		return 3
	case slices.Contains(reads.Aliases, name): // one without a dot
		return 4
	}
	return 0
}

// aliases are the full names of a type's aliases.
func aliases(n *avro.SchemaNode) (all []string) {
	space := strings.TrimSuffix(FullName(n), short(FullName(n)))
	for _, alias := range n.Aliases {
		if !strings.Contains(alias, ".") {
			alias = space + alias
		}
		all = append(all, strings.TrimPrefix(alias, "."))
	}
	return all
}

// isNamed reports whether types are known by a name of the schema.
func isNamed(n *avro.SchemaNode) bool {
	return IsRecord(n) || n.Type == "enum" || n.Type == "fixed"
}

// matches reports whether a type may read values of another one; neither is a union.
func matches(reads, wrote *avro.SchemaNode) bool {
	switch {
	case isNamed(reads) && reads.Type == wrote.Type:
		return answer(reads, wrote) > 0
	case nested(reads), nested(wrote):
		return reads.Type == wrote.Type
	}
	return true
}

// promotions are the types that Avro reads as another one.
var promotions = map[string][]string{
	"int": {"long", "float", "double"}, "long": {"float", "double"}, "float": {"double"}, "string": {"bytes"}, "bytes": {"string"},
}

// choose returns the index of the type of a union that reads values of a type; -1 if there is
// none. The type of the same name is before others, and a type before what it can be promoted to.
func choose(branches []Branch, wrote *avro.SchemaNode) int {
	best, rank := -1, 0
	for i, b := range branches {
		is := 0
		switch {
		case isNamed(wrote) && b.Is.Type == wrote.Type:
			is = answer(b.Is, wrote)
		case b.Is.Type == wrote.Type:
			is = 1
		case sameBase(b.Is, wrote):
			is = 5
		case slices.Contains(promotions[wrote.Type], b.Is.Type):
			is = 6
		}
		if is > 0 && (best < 0 || is < rank) {
			best, rank = i, is
		}
	}
	return best
}

// plan is how a record is read that another schema wrote.
type plan struct {
	steps   []step              // by field of the writer
	lacking []*avro.SchemaField // fields of the reader that the writer lacks, and that have a default
}

// step is what becomes of a field of the writer.
type step struct {
	name  string           // in JSON; "" if nobody reads it
	reads *avro.SchemaNode // nil if nothing is known of who reads it
	clash bool             // another field of the writer has the same reader
}

// plans are those that were made. Any goroutine may use them.
type plans struct{ made sync.Map }

func (p *plans) of(wrote, reads *avro.SchemaNode, defaults map[*avro.SchemaField][]byte) *plan {
	pair := [2]*avro.SchemaNode{wrote, reads}
	if made, is := p.made.Load(pair); is {
		return made.(*plan)
	}
	made := planOf(wrote, reads, defaults)
	p.made.Store(pair, made)
	return made
}

// planOf returns how a record is read. If reads is nil, nobody is known to read it: it has all its
// fields.
func planOf(wrote, reads *avro.SchemaNode, defaults map[*avro.SchemaField][]byte) *plan {
	out := &plan{steps: make([]step, len(wrote.Fields))}
	first := map[*avro.SchemaField]int{} // field of the writer
	for i := range wrote.Fields {
		if reads == nil {
			out.steps[i] = step{name: wrote.Fields[i].Name}
			continue
		}
		f := fieldFor(reads, wrote.Fields[i].Name)
		if f == nil {
			continue
		}
		if was, is := first[f]; is {
			out.steps[was].clash = true
			continue
		}
		first[f] = i
		out.steps[i] = step{name: f.Name, reads: &f.Type}
	}
	if reads == nil {
		return out
	}
	for i := range reads.Fields {
		f := &reads.Fields[i]
		if _, is := first[f]; !is && defaults[f] != nil {
			out.lacking = append(out.lacking, f)
		}
	}
	return out
}

// fieldFor is the field of a record that reads one of this name; nil if there is none.
func fieldFor(n *avro.SchemaNode, name string) *avro.SchemaField {
	for i := range n.Fields {
		if f := &n.Fields[i]; f.Name == name || slices.Contains(f.Aliases, name) {
			return f
		}
	}
	return nil
}
