package joint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// file is a source with the functions of it that bugs change.
type file struct {
	pkg       string
	src       []byte
	functions []*function
}

// function is a function that bugs change.
type function struct {
	copied
	numbers []int
	copies  []string
}

// copied is a function that a bug needs a copy of.
type copied struct {
	path, pkg string
	name      string      // with the receiver's type
	body      int         // where its body begins, behind the brace
	names     []insertion // that give each parameter a name
	callee    string      // what a copy's call begins with, up to its own name's end
	arguments string
	returns   bool
	head      string // the copy's text, up to its name's end
	tail      string
}

// copy is the function that has the bug.
func (c *copied) copy(number int) string { return fmt.Sprint(c.head, suffix, number, c.tail) }

// call calls it.
func (c *copied) call(number int) string { return fmt.Sprint(c.callee, suffix, number, c.arguments) }

// suffix is between a copy's name and its bug's number.
const suffix = "_bug"

func (f *file) add(number int, c copied) {
	var of *function
	for _, fn := range f.functions {
		if fn.name == c.name {
			of = fn
		}
	}
	if of == nil {
		of = &function{copied: c}
		f.functions = append(f.functions, of)
	}
	of.numbers = append(of.numbers, number)
	of.copies = append(of.copies, c.copy(number))
}

// text is the source with each function's copies, whose lines stay where they were.
func (f *file) text() []byte {
	var all []insertion
	var copies strings.Builder
	for _, fn := range f.functions {
		all = append(all, fn.names...)
		all = append(all, insertion{fn.body, fn.body, fn.choice()})
		for _, c := range fn.copies {
			copies.WriteString("\n" + c + "\n")
		}
	}
	return append(splice(f.src, all), copies.String()...)
}

// choice is the statement that calls the copy of the chosen bug.
func (fn *function) choice() string {
	var out strings.Builder
	numbers := strings.Trim(strings.ReplaceAll(fmt.Sprint(fn.numbers), " ", ", "), "[]")
	fmt.Fprintf(&out, " if idemgenBug != 0 { switch idemgenBugOf(%s) {", numbers)
	for _, n := range fn.numbers {
		if fn.returns {
			fmt.Fprintf(&out, " case %d: return %s;", n, fn.call(n))
		} else {
			fmt.Fprintf(&out, " case %d: %s; return;", n, fn.call(n))
		}
	}
	return out.String() + " } };"
}

// parsed is a source and its syntax.
type parsed struct {
	set    *token.FileSet
	src    []byte
	syntax *ast.File
}

func parse(path string, src []byte) (*parsed, error) {
	f := &parsed{set: token.NewFileSet(), src: src}
	var err error
	f.syntax, err = parser.ParseFile(f.set, path, src, parser.SkipObjectResolution)
	return f, err
}

func (f *parsed) text(from, to token.Pos) string {
	s := f.span(from, to)
	return string(f.src[s.from:s.to])
}

var errOutside = errors.New("it changes more than functions")

// compare returns the functions that differ. It is an error if more than bodies differ.
func compare(path string, s Sources) ([]copied, error) {
	if !strings.HasSuffix(path, ".go") {
		return nil, errOutside
	}
	before, err := parse(path, s.Before)
	if err != nil {
		return nil, err
	}
	after, err := parse(path, s.After)
	if err != nil {
		return nil, err
	}
	if len(before.syntax.Decls) != len(after.syntax.Decls) {
		return nil, errOutside
	}
	var all []copied
	for i, b := range before.syntax.Decls {
		a := after.syntax.Decls[i]
		if before.text(b.Pos(), b.End()) == after.text(a.Pos(), a.End()) {
			continue
		}
		was, ok := b.(*ast.FuncDecl)
		is, both := a.(*ast.FuncDecl)
		if !ok || !both {
			return nil, errOutside
		}
		c, err := before.copy(path, was, after, is)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// copy makes a copy of a function, with its changed body.
func (f *parsed) copy(path string, was *ast.FuncDecl, after *parsed, is *ast.FuncDecl) (copied, error) {
	switch {
	case was.Body == nil || is.Body == nil || f.text(was.Type.Pos(), was.Body.Pos()) != after.text(is.Type.Pos(), is.Body.Pos()):
		return copied{}, errOutside
	case recovers(was.Body) || recovers(is.Body):
		return copied{}, errors.New("it recovers, which only a deferred function can")
	}
	for _, i := range f.syntax.Imports {
		if i.Path.Value == `"C"` {
			return copied{}, errors.New("its file uses cgo")
		}
	}
	c := copied{path: path, pkg: f.syntax.Name.Name, returns: was.Type.Results != nil && len(was.Type.Results.List) > 0}
	c.body = f.span(was.Body.Lbrace+1, was.Body.Lbrace+1).from
	c.name, c.callee = was.Name.Name, was.Name.Name
	if was.Recv != nil {
		c.name = f.text(was.Recv.List[0].Type.Pos(), was.Recv.List[0].Type.End()) + "." + c.name
		c.callee = f.named(was.Recv, "idemgenRecv", &c.names)[0] + "." + c.callee
	}
	if t := was.Type.TypeParams; t != nil {
		c.arguments = "[" + strings.Join(f.named(t, "", &c.names), ", ") + "]"
	}
	c.arguments += "(" + strings.Join(f.named(was.Type.Params, "idemgenArg", &c.names), ", ") + ")"
	c.head, c.tail = after.text(is.Pos(), is.Name.End()), after.text(is.Name.End(), is.End())
	return c, nil
}

// named returns the names of parameters, and gives those without one a name.
func (f *parsed) named(list *ast.FieldList, prefix string, add *[]insertion) []string {
	var names []string
	for _, field := range list.List {
		dots := ""
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			dots = "..."
		}
		if field.Names == nil {
			name := fmt.Sprint(prefix, len(names))
			at := f.span(field.Type.Pos(), field.Type.Pos()).from
			*add = append(*add, insertion{at, at, name + " "})
			names = append(names, name+dots)
		}
		for _, n := range field.Names {
			name := n.Name
			if name == "_" {
				name = fmt.Sprint(prefix, len(names))
				s := f.span(n.Pos(), n.End())
				*add = append(*add, insertion{s.from, s.to, name})
			}
			names = append(names, name+dots)
		}
	}
	return names
}

// recovers reports whether a body calls recover itself.
func recovers(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "recover" {
				found = true
			}
		}
		return !found
	})
	return found
}
