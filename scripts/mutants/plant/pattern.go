package plant

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"strings"
)

// pattern is syntax to find: one expression, or statements that follow each other.
type pattern struct {
	expr  ast.Expr
	stmts []ast.Stmt
}

// wildcard begins the name that $name has while it is parsed.
const wildcard = "wildcard_"

// whole is the wildcard for all that a pattern found.
const whole = "$0"

var wildcards = regexp.MustCompile(`\$(\w+)`)

// parse parses a pattern.
func parse(text string) (pattern, error) {
	src := wildcards.ReplaceAllString(text, wildcard+"$1")
	if x, err := parser.ParseExpr(src); err == nil {
		return pattern{expr: x}, nil
	}
	if x, err := parser.ParseExpr("_{" + src + "}"); err == nil {
		if list := x.(*ast.CompositeLit).Elts; len(list) == 1 {
			return pattern{expr: list[0]}, nil
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() {"+src+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return pattern{}, fmt.Errorf("%q is neither an expression nor statements: %w", text, err)
	}
	return pattern{stmts: f.Decls[0].(*ast.FuncDecl).Body.List}, nil
}

// found is where a pattern occurs.
type found struct {
	from, to  token.Pos
	outer     ast.Stmt // the innermost statement of a block that is it or holds it; nil of a run
	condition bool
	names     map[string]ast.Node // of its wildcards
}

// find returns the places in a node where the pattern occurs.
func (p pattern) find(in ast.Node) []found {
	var all []found
	var path []ast.Node
	ast.Inspect(in, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		for _, run := range p.candidates(n) {
			if names, ok := p.match(run); ok {
				at := found{from: run[0].Pos(), to: run[len(run)-1].End(), names: names}
				if run[0] == n {
					at.outer, at.condition = statement(path), isCondition(path)
				}
				all = append(all, at)
			}
		}
		return true
	})
	return all
}

// candidates are what the pattern may be: the node itself, or runs of its statements.
func (p pattern) candidates(n ast.Node) [][]ast.Node {
	_, isExpr := n.(ast.Expr)
	_, isStmt := n.(ast.Stmt)
	if p.expr != nil && isExpr || len(p.stmts) == 1 && isStmt {
		return [][]ast.Node{{n}}
	}
	var runs [][]ast.Node
	if list := statements(n); len(p.stmts) > 1 {
		for i := range len(list) - len(p.stmts) + 1 {
			var run []ast.Node
			for _, s := range list[i : i+len(p.stmts)] {
				run = append(run, s)
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// match compares the pattern with a run of nodes.
func (p pattern) match(run []ast.Node) (map[string]ast.Node, bool) {
	m := matcher{}
	if p.expr != nil {
		return m, m.same(p.expr, run[0])
	}
	for i, s := range p.stmts {
		if !m.same(s, run[i]) {
			return nil, false
		}
	}
	return m, true
}

// isCondition reports whether the end of a path decides something, alone or with others.
func isCondition(path []ast.Node) bool {
	if len(path) < 2 {
		return false
	}
	n := path[len(path)-1]
	switch outer := path[len(path)-2].(type) {
	case *ast.IfStmt:
		return outer.Cond == n
	case *ast.ForStmt:
		return outer.Cond == n
	case *ast.BinaryExpr:
		return outer.Op == token.LAND || outer.Op == token.LOR
	case *ast.UnaryExpr:
		return outer.Op == token.NOT
	case *ast.CaseClause, *ast.ReturnStmt, *ast.ParenExpr:
		_, isExpr := n.(ast.Expr)
		return isExpr
	}
	return false
}

// statements are the statements of a block.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// statement is the innermost statement of a block that the end of a path is or stands in.
func statement(path []ast.Node) ast.Stmt {
	for i := len(path) - 1; i > 0; i-- {
		for _, s := range statements(path[i-1]) {
			_, isCase := s.(*ast.CaseClause)
			_, isComm := s.(*ast.CommClause)
			if s == path[i] && !isCase && !isComm {
				return s
			}
		}
	}
	return nil
}

// matcher compares syntax with a pattern's. It holds what the wildcards stand for.
type matcher map[string]ast.Node

func (m matcher) same(p, n ast.Node) bool { return m.equal(reflect.ValueOf(p), reflect.ValueOf(n)) }

var (
	position = reflect.TypeFor[token.Pos]()
	comments = reflect.TypeFor[*ast.CommentGroup]()
)

// equal compares a value of a pattern's syntax with another one.
func (m matcher) equal(p, n reflect.Value) bool {
	if p.Kind() == reflect.Interface {
		if p.IsNil() || n.IsNil() {
			return p.IsNil() && n.IsNil()
		}
		p, n = p.Elem(), n.Elem()
	}
	if name, ok := m.wild(p); ok && n.CanInterface() {
		if node, ok := n.Interface().(ast.Node); ok && !n.IsNil() {
			return m.capture(name, node)
		}
	}
	if p.Type() != n.Type() {
		return false
	}
	switch p.Kind() {
	case reflect.Pointer:
		if p.IsNil() || n.IsNil() {
			return p.IsNil() && n.IsNil()
		}
		return m.equal(p.Elem(), n.Elem())
	case reflect.Slice:
		if list, ok := p.Interface().([]ast.Stmt); ok && len(list) == 1 {
			if name, ok := m.wild(reflect.ValueOf(list[0])); ok && name == "" {
				return true
			}
		}
		if p.Len() != n.Len() {
			return false
		}
		for i := range p.Len() {
			if !m.equal(p.Index(i), n.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return m.fields(p, n)
	}
	return p.Interface() == n.Interface()
}

// fields compares two nodes without their positions and comments. Of a call it matters
// whether its last argument is spread.
func (m matcher) fields(p, n reflect.Value) bool {
	for i := range p.NumField() {
		switch t := p.Type().Field(i); {
		case t.Name == "Ellipsis" && t.Type == position:
			if p.Field(i).Interface().(token.Pos).IsValid() != n.Field(i).Interface().(token.Pos).IsValid() {
				return false
			}
		case t.Type == position || t.Type == comments:
		case !m.equal(p.Field(i), n.Field(i)):
			return false
		}
	}
	return true
}

// wild returns the name of a wildcard: of an identifier, or of a statement that is one.
func (m matcher) wild(p reflect.Value) (string, bool) {
	switch x := p.Interface().(type) {
	case *ast.ExprStmt:
		return m.wild(reflect.ValueOf(x.X))
	case *ast.Ident:
		if x != nil && x.Name == "_" {
			return "", true
		}
		if x != nil {
			return strings.CutPrefix(x.Name, wildcard)
		}
	}
	return "", false
}

// capture gives a wildcard its node. A name that has one must stand for equal syntax.
func (m matcher) capture(name string, n ast.Node) bool {
	if had, ok := m[name]; ok && name != "" {
		return matcher{}.same(had, n)
	}
	m[name] = n
	return true
}
