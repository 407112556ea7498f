package randspec

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Spec is a spec that idemgen accepts.
type Spec struct{ root *part }

// String is the spec as YAML.
func (s *Spec) String() string { return s.root.String() }

// New makes the spec of a number. The same number makes the same spec, until this package or what
// idemgen refuses changes.
func New(seed uint64) *Spec {
	r := rand.New(rand.NewPCG(seed, 0))
	for {
		if s := draw(r); s.repair() {
			return s
		}
	}
}

func draw(r *rand.Rand) *Spec {
	root := &part{}
	root.add(need("version: 1"), need("consumer: random"), need("package: random"))
	all := names(r)
	line := &part{lines: []string{"Line:"}, parts: []*part{{lines: []string{"fields:"}, needed: true}}, needed: true}
	for _, n := range order {
		if all[n].field != "" {
			typ := all[n].field
			if all[n].optional {
				typ = "optional " + typ
			}
			line.parts[0].add(leaf(n + ": " + typ))
		}
	}
	root.add(&part{lines: []string{"types:"}, parts: []*part{line, answer(all), need("Mood: {enum: [glad, sad, so-so]}")}, needed: true})
	made, section := tables(r, all, 2+r.IntN(4))
	root.add(section)
	topics := &part{lines: []string{"topics:"}, needed: true}
	for i := range 1 + r.IntN(3) {
		topics.add(topic(r, all, made, fmt.Sprintf("topic-%c", 'a'+i)))
	}
	root.add(topics)
	return &Spec{root}
}

// repair takes out what idemgen refuses, until it refuses nothing. It reports whether that left
// a spec.
func (s *Spec) repair() bool {
	for {
		refused := s.refused()
		if len(refused) == 0 {
			return true
		}
		for _, path := range refused {
			if !without(path) {
				return false
			}
		}
	}
}

// refused are the paths to what is to be taken out: all fields that nothing uses, or the place of
// the first other refusal. Taking that out may be enough.
func (s *Spec) refused() (unused [][]*part) {
	spec, problems := syntax.Load("random.yaml", []byte(s.String()))
	if problems.Errors() == 0 {
		_, more := resolve.Resolve(spec)
		problems.Append(more)
	}
	for _, p := range problems.Sorted() {
		path := s.root.at(p.Pos.Line - 1)
		switch {
		case p.Code == "E212":
			unused = append(unused, path)
		default:
			return [][]*part{path}
		}
	}
	return unused
}

// Smaller returns specs that lack one part of this one, and what cannot be without it; large parts
// first. Each is one that idemgen accepts.
func (s *Spec) Smaller() iter.Seq[*Spec] {
	return func(yield func(*Spec) bool) {
		seen := map[string]bool{s.String(): true}
		for depth := 1; depth < 8; depth++ {
			for line := range s.root.count() {
				smaller := &Spec{s.root.copy()}
				path := smaller.root.at(line)
				if len(path) <= depth || !without(path[:depth+1]) || !smaller.repair() {
					continue
				}
				if text := smaller.String(); !seen[text] {
					seen[text] = true
					if !yield(smaller) {
						return
					}
				}
			}
		}
	}
}
