// Package draw makes bugs that nobody thought of: it lists the places of a package's functions
// where a small change makes other code of it, and draws some of them. It must not import what it
// changes.
package draw

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/scripts/mutants/compile"
)

// Bug is a change at one place of a file.
type Bug struct {
	Path     string // below the module's root
	Line     int
	Kind     Kind
	From, To int // offsets of what it replaces
	Code     string
}

// Kind is a kind of change.
type Kind string

// The kinds of changes.
const (
	Negate    Kind = "a condition is negated"
	Bound     Kind = "a bound is shifted"
	Operand   Kind = "an operand of a condition is dropped"
	Sign      Kind = "plus and minus are exchanged"
	Statement Kind = "a statement is dropped"
	Case      Kind = "a case is dropped"
	Arguments Kind = "arguments are exchanged"
	NilError  Kind = "nil is returned for an error"
	Boolean   Kind = "true and false are exchanged"
)

// Apply returns a file with the bug.
func (b Bug) Apply(src []byte) []byte {
	return slices.Concat(src[:b.From], []byte(b.Code), src[b.To:])
}

// Text says what the bug changes in the file whose source is src.
func (b Bug) Text(src []byte) string {
	text := fmt.Sprintf("%s:%d: %s: %s", b.Path, b.Line, b.Kind, short(string(src[b.From:b.To])))
	if b.Code != "" {
		text += " -> " + short(b.Code)
	}
	return text
}

func short(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if runes := []rune(code); len(runes) > 90 {
		code = string(runes[:87]) + "..."
	}
	return code
}

// All returns the bugs of a package's functions, in the order of files and places. read returns a
// file's source.
func All(p compile.Package, read func(path string) []byte) []Bug {
	var all []Bug
	for _, path := range slices.Sorted(maps.Keys(p.Files)) {
		l := list{p: p, path: path, src: read(path)}
		for _, d := range p.Files[path].Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				ast.Inspect(fn.Body, l.visit(fn.Type))
			}
		}
		slices.SortStableFunc(l.all, func(a, b Bug) int { return cmp.Compare(a.From, b.From) })
		all = append(all, l.all...)
	}
	return all
}

// Draw returns up to n of the bugs that ok takes, in the order that the seed decides.
func Draw(all []Bug, n int, seed uint64, ok func(Bug) bool) []Bug {
	r := rand.New(rand.NewPCG(seed, 1))
	all = slices.Clone(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var drawn []Bug
	for _, b := range all {
		if len(drawn) == n {
			break
		}
		if ok(b) {
			drawn = append(drawn, b)
		}
	}
	return drawn
}

// list collects the bugs of a file.
type list struct {
	p    compile.Package
	path string
	src  []byte
	all  []Bug
}

func (l *list) add(kind Kind, from, to token.Pos, code string) {
	at := l.p.Set.Position(from)
	l.all = append(l.all, Bug{l.path, at.Line, kind, at.Offset, l.p.Set.Position(to).Offset, code})
}

func (l *list) text(n ast.Node) string {
	return string(l.src[l.p.Set.Position(n.Pos()).Offset:l.p.Set.Position(n.End()).Offset])
}

// visit adds the bugs of each node within a function.
func (l *list) visit(fn *ast.FuncType) func(ast.Node) bool {
	return func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, l.visit(n.Type))
			return false
		case *ast.IfStmt:
			l.negate(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				l.negate(n.Cond)
			}
		case *ast.BinaryExpr:
			l.binary(n)
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
			l.drop(n.(ast.Stmt))
		case *ast.IncDecStmt:
			l.drop(n)
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				l.drop(n)
			}
		case *ast.CaseClause:
			l.caseOf(n, n.List, n.Body)
		case *ast.CommClause:
			l.drop(n)
			for _, s := range n.Body {
				ast.Inspect(s, l.visit(fn))
			}
			return false
		case *ast.CallExpr:
			l.exchange(n)
		case *ast.ReturnStmt:
			l.result(fn, n)
		case *ast.Ident:
			l.boolean(n)
		}
		return true
	}
}

func (l *list) negate(cond ast.Expr) {
	l.add(Negate, cond.Pos(), cond.End(), "!("+l.text(cond)+")")
}

var shifted = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

func (l *list) binary(n *ast.BinaryExpr) {
	end := n.OpPos + token.Pos(len(n.Op.String()))
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		l.add(Bound, n.OpPos, end, shifted[n.Op])
	case token.LAND, token.LOR:
		l.add(Operand, n.Pos(), n.End(), l.text(n.X))
		l.add(Operand, n.Pos(), n.End(), l.text(n.Y))
	case token.ADD, token.SUB:
		t := l.p.Types[n]
		if b, ok := under(t.Type).(*types.Basic); !ok || b.Info()&types.IsNumeric == 0 || t.Value != nil {
			return
		}
		l.add(Sign, n.OpPos, end, map[token.Token]string{token.ADD: "-", token.SUB: "+"}[n.Op])
	}
}

func under(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// drop drops a statement, but a panic: it says that the place is never reached.
func (l *list) drop(n ast.Stmt) {
	if e, ok := n.(*ast.ExprStmt); ok {
		if call, ok := e.X.(*ast.CallExpr); ok && l.text(call.Fun) == "panic" {
			return
		}
	}
	kind := Statement
	if _, ok := n.(*ast.CommClause); ok {
		kind = Case
	}
	l.add(kind, n.Pos(), n.End(), "")
}

// caseOf drops a case, and each of the values of one.
func (l *list) caseOf(n *ast.CaseClause, values []ast.Expr, body []ast.Stmt) {
	if len(body) > 0 {
		l.add(Case, n.Pos(), n.End(), "")
	}
	for i, v := range values {
		if t := l.p.Types[v]; len(values) == 1 && t.IsValue() && t.Value == nil && isBool(t.Type) {
			l.negate(v)
		}
		if i > 0 {
			l.add(Case, values[i-1].End(), v.End(), "")
		}
	}
}

func isBool(t types.Type) bool {
	b, ok := under(t).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// exchange exchanges two arguments that follow one another and have one type.
func (l *list) exchange(n *ast.CallExpr) {
	if t, ok := l.p.Types[n.Fun]; !ok || t.IsType() || t.IsBuiltin() {
		return
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		ta, tb := l.p.Types[a].Type, l.p.Types[b].Type
		if ta == nil || tb == nil || !types.Identical(ta, tb) || l.text(a) == l.text(b) {
			continue
		}
		between := l.src[l.p.Set.Position(a.End()).Offset:l.p.Set.Position(b.Pos()).Offset]
		if bytes.Contains(between, []byte("//")) {
			continue
		}
		l.add(Arguments, a.Pos(), b.End(), l.text(b)+string(between)+l.text(a))
	}
}

// result returns nil in the place of an error.
func (l *list) result(fn *ast.FuncType, n *ast.ReturnStmt) {
	if fn.Results == nil || len(n.Results) == 0 || len(n.Results) != fn.Results.NumFields() {
		return
	}
	last := n.Results[len(n.Results)-1]
	want := fn.Results.List[len(fn.Results.List)-1].Type
	if id, ok := want.(*ast.Ident); !ok || id.Name != "error" || l.text(last) == "nil" {
		return
	}
	l.add(NilError, last.Pos(), last.End(), "nil")
}

func (l *list) boolean(n *ast.Ident) {
	t, ok := l.p.Types[n]
	if !ok || t.Value == nil {
		return
	}
	switch n.Name {
	case "true":
		l.add(Boolean, n.Pos(), n.End(), "false")
	case "false":
		l.add(Boolean, n.Pos(), n.End(), "true")
	}
}
