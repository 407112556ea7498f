package plant

import (
	"cmp"
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// most is how many candidates an error names.
const most = 5

// namesLike says which declarations a place that is not there may mean: those of its name
// elsewhere, those whose last part is the same, those of the same type.
func (s *Sources) namesLike(p place) string {
	typ, last, isMethod := strings.Cut(p.name, ".")
	if !isMethod {
		typ, last = "", p.name
	}
	return s.candidates(p.dir, func(d declaration) int {
		of, name, method := strings.Cut(d.name, ".")
		if !method {
			of, name = "", d.name
		}
		switch {
		case d.name == p.name:
			return 3
		case strings.EqualFold(name, last):
			return 2
		case typ != "" && of == typ:
			return 1
		}
		return 0
	})
}

// syntaxLike says where else a pattern occurs; if it occurs nowhere, which statements of its
// declaration have the most words in common with it.
func (s *Sources) syntaxLike(p pattern, e edit, d declaration) string {
	if elsewhere := s.candidates(e.dir, func(d declaration) int {
		if d.node == nil {
			return 0
		}
		return min(1, len(p.find(d.node)))
	}); elsewhere != "" {
		return elsewhere
	}
	return "; nearest" + nearest(d, e.pattern)
}

// textLike says where else a text that does not occur stands.
func (s *Sources) textLike(e edit, times int) string {
	if times > 0 {
		return ""
	}
	words := strings.Join(strings.Fields(e.pattern), " ")
	return s.candidates(e.dir, func(d declaration) int {
		return strings.Count(strings.Join(strings.Fields(string(d.file.src[d.from:d.to])), " "), words)
	})
}

// candidates names the declarations that have the most points: of the same directory, or else
// of the module.
func (s *Sources) candidates(dir string, points func(declaration) int) string {
	best, top := []declaration{}, 1
	for _, dir := range []string{dir, "."} {
		files, err := s.in(dir)
		if err != nil {
			return fmt.Sprintf("; no candidates: %v", err)
		}
		for _, f := range files {
			for _, d := range f.all {
				n := points(d)
				if n > top {
					best, top = best[:0], n
				}
				if n == top {
					best = append(best, d)
				}
			}
		}
		if len(best) > 0 {
			return "; candidates: " + places(best[:min(len(best), most)])
		}
	}
	return ""
}

var words = regexp.MustCompile(`\w+`)

// nearest lists the statements of a declaration that have the most words of a text.
func nearest(d declaration, text string) string {
	type near struct {
		line   int
		text   string
		common int
	}
	wanted := words.FindAllString(text, -1)
	var list []near
	ast.Inspect(d.node, func(n ast.Node) bool {
		for _, s := range statements(n) {
			from := d.file.offset(s.Pos())
			head, _, _ := strings.Cut(string(d.file.src[from:d.file.offset(s.End())]), "\n")
			has := words.FindAllString(head, -1)
			common := 0
			for _, w := range wanted {
				if slices.Contains(has, w) {
					common++
				}
			}
			if common > 0 {
				list = append(list, near{d.file.line(from), head, common})
			}
		}
		return true
	})
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(b.common, a.common) })
	var out strings.Builder
	for _, n := range list[:min(len(list), most)] {
		fmt.Fprintf(&out, "\n\tline %d: %s", n.line, n.text)
	}
	return cmp.Or(out.String(), ": nothing")
}
