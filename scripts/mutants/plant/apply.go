package plant

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Apply returns the files that the edits change, by their paths below the module's root. The
// sources stay as they are. An error says what was not found, and what may be meant.
func (s *Sources) Apply(e Edits) (map[string][]byte, error) {
	if len(e.list) == 0 {
		return nil, errors.New("nothing is changed")
	}
	changed := map[string]*file{}
	for _, ed := range e.list {
		d, err := s.declaration(ed.place, changed)
		if err != nil {
			return nil, err
		}
		src, err := s.apply(ed, d)
		if err != nil {
			return nil, err
		}
		if changed[d.file.path], err = newFile(d.file.path, src); err != nil {
			return nil, fmt.Errorf("what became of it does not parse: %w", err)
		}
	}
	files := map[string][]byte{}
	for path, f := range changed {
		files[path] = f.src
	}
	return files, nil
}

// declaration finds a place. Files that were changed already count as they are now.
func (s *Sources) declaration(p place, changed map[string]*file) (declaration, error) {
	files, err := s.in(p.dir)
	if err != nil {
		return declaration{}, err
	}
	var all []declaration
	for _, f := range files {
		if now := changed[f.path]; now != nil {
			f = now
		}
		for _, d := range f.all {
			if d.name == p.name {
				all = append(all, d)
			}
		}
	}
	switch len(all) {
	case 0:
		return declaration{}, fmt.Errorf("%s has no %s%s", p.dir, p.name, s.namesLike(p))
	case 1:
		return all[0], nil
	}
	return declaration{}, fmt.Errorf("%s has more than one %s, name a narrower directory: %s", p.dir, p.name, places(all))
}

// apply returns a declaration's file with an edit made.
func (s *Sources) apply(e edit, d declaration) ([]byte, error) {
	switch {
	case e.how == declare:
		return []byte(string(d.file.src) + "\n" + e.code + "\n"), nil
	case e.how == text:
		return s.replaceText(e, d)
	case d.node == nil:
		return nil, fmt.Errorf("%s is not Go: use Text", d.file.path)
	}
	p, err := parse(e.pattern)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(p.find(d.node), func(at found) bool { return e.how == condition && !at.condition })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no %s%s", d, e.pattern, s.syntaxLike(p, e, d))
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("%s has %s %d times: %s", d, e.pattern, len(all), lines(d.file, all))
	}
	return e.rewrite(d.file, all[0])
}

// rewrite makes an edit at the place that was found for it.
func (e edit) rewrite(f *file, at found) ([]byte, error) {
	code := wildcards.ReplaceAllStringFunc(e.code, func(name string) string {
		if name == whole {
			all := string(f.src[f.offset(at.from):f.offset(at.to)])
			if e.how == condition { // it may be an alternative
				all = "(" + all + ")"
			}
			return all
		}
		if n := at.names[name[1:]]; n != nil {
			return string(f.src[f.offset(n.Pos()):f.offset(n.End())])
		}
		return name
	})
	from, to := f.offset(at.from), f.offset(at.to)
	if e.how != replace && e.how != condition && at.outer != nil {
		from, to = f.offset(at.outer.Pos()), f.offset(at.outer.End())
	}
	switch e.how {
	case before:
		code, to = code+"\n", from
	case after:
		code, from = "\n"+code, to
	}
	return splice(f.src, from, to, code), nil
}

// replaceText replaces text within a declaration.
func (s *Sources) replaceText(e edit, d declaration) ([]byte, error) {
	words := strings.Fields(e.pattern)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	all := regexp.MustCompile(strings.Join(words, `\s+`)).FindAllIndex(d.file.src[d.from:d.to], -1)
	if len(all) != 1 || len(words) == 0 {
		return nil, fmt.Errorf("%s has the text %d times: %q%s", d, len(all), e.pattern, s.textLike(e, len(all)))
	}
	return splice(d.file.src, d.from+all[0][0], d.from+all[0][1], e.code), nil
}

func splice(src []byte, from, to int, code string) []byte {
	return []byte(string(src[:from]) + code + string(src[to:]))
}

// String names a declaration and where it is.
func (d declaration) String() string {
	return fmt.Sprintf("%s (%s:%d)", d.name, d.file.path, d.file.line(d.from))
}

// places names declarations.
func places(all []declaration) string {
	var texts []string
	for _, d := range all {
		texts = append(texts, d.String())
	}
	return strings.Join(texts, ", ")
}

// lines are the numbers of the lines where a pattern was found.
func lines(f *file, all []found) string {
	var texts []string
	for _, at := range all {
		texts = append(texts, fmt.Sprintf("line %d", f.line(f.offset(at.from))))
	}
	return strings.Join(texts, ", ")
}
