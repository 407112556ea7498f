package plant

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goods = `package goods

// Store keeps goods.
type Store struct{ goods []string }

const limit = 5 // goods

const listSQL = ` + "`SELECT name\n\tFROM goods\n\tWHERE price > 0`" + `

// Add adds a good.
func (s *Store) Add(name string) (int, error) {
	if len(name) == 0 || s.full() { // no room
		return 0, nil
	}
	s.goods = append(s.goods,
		name)
	for _, g := range s.goods {
		use(g)
	}
	switch n, ok := count(s.goods); {
	case ok, n > limit:
		use(pair{left: n, right: "n"})
	}
	return count(s.goods...), nil
}

func (s *Store) full() bool { return len(s.goods) > limit }
`

const tables = `CREATE TABLE goods (
    name text PRIMARY KEY
);

CREATE OR REPLACE FUNCTION sell(good text) RETURNS void LANGUAGE sql AS $$
    DELETE FROM goods WHERE name = good;
$$;
`

// module writes sources, and reads them.
func module(t *testing.T) *Sources {
	t.Helper()
	root := t.TempDir()
	for path, src := range map[string]string{
		"shop/store/store.go":      goods,
		"shop/store/store_test.go": "package goods\n\nfunc (s *Store) full() {}\n",
		"shop/sql/goods.sql":       tables,
		"bank/bank.go":             "package bank\n\nfunc Pay() { pay(1); pay(2) }\n\nfunc count() {}\n",
		"shop/till/till.go":        "package till\n\nfunc count() {}\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Read(root)
}

func TestEdits(t *testing.T) {
	s := module(t)
	add, full := In("shop", "Store.Add"), In("./shop", "Store.full")
	for name, test := range map[string]struct {
		edits    Edits
		old, new string // a part of a source, and what becomes of it
	}{
		"an expression, over lines":      {add.Replace(`append(s.goods, name)`, `nil`), "append(s.goods,\n\t\tname)", "nil"},
		"any expression":                 {add.Replace(`len(_) == 0`, `false`), "len(name) == 0", "false"},
		"what a name stands for":         {add.Replace(`$list = append($list, $item)`, `$item = $list`), "s.goods = append(s.goods,\n\t\tname)", "name = s.goods"},
		"all that was found":             {add.Replace(`s.full()`, `!$0`), "s.full()", "!s.full()"},
		"a part of a literal":            {add.Replace(`left: _`, `left: 1`), "left: n", "left: 1"},
		"a block":                        {add.Replace(`for _, g := range _ { _ }`, `g = nil`), "for _, g := range s.goods {\n\t\tuse(g)\n\t}", "g = nil"},
		"an argument that is spread":     {add.Replace(`count($list...)`, `0`), "count(s.goods...)", "0"},
		"a statement":                    {add.Drop(`use(g)`), "use(g)", ""},
		"what an expression stands in":   {add.Drop(`s.full()`), "if len(name) == 0 || s.full() { // no room\n\t\treturn 0, nil\n\t}", ""},
		"statements that follow":         {add.Drop("s.goods = _\nfor _, g := range _ { _ }"), "s.goods = append(s.goods,\n\t\tname)\n\tfor _, g := range s.goods {\n\t\tuse(g)\n\t}", ""},
		"before":                         {add.Before(`append(_, _)`, `use(0)`), "\ts.goods = append", "\tuse(0)\ns.goods = append"},
		"before a switch, not its case":  {add.Before(`n > limit`, `use(0)`), "switch n, ok", "use(0)\nswitch n, ok"},
		"after":                          {add.After(`append(_, _)`, `use(0)`), "\t\tname)\n", "\t\tname)\nuse(0)\n"},
		"never":                          {add.Never(`s.full()`), "s.full()", "((s.full()) && false)"},
		"always":                         {full.Always(`len(_) > limit`), "len(s.goods) > limit", "((len(s.goods) > limit) || true)"},
		"a condition among equal names":  {add.Condition(`ok`, `!ok`), "case ok,", "case !ok,"},
		"a declaration":                  {add.Declare(`var x int`), "len(s.goods) > limit }\n", "len(s.goods) > limit }\n\nvar x int\n"},
		"a constant":                     {In("shop", "limit").Replace(`5`, `6`), "limit = 5", "limit = 6"},
		"text of a constant, over lines": {In("shop", "listSQL").Text("name FROM goods", "1 FROM goods"), "name\n\tFROM goods", "1 FROM goods"},
		"a table":                        {In("shop/sql", "goods").Text("PRIMARY KEY", ""), "PRIMARY KEY", ""},
		"a function of SQL":              {In("shop/sql", "sell").Text("name = good", "true"), "name = good", "true"},
		"one after the other":            {add.Replace(`s.full()`, `s.empty()`).Replace(`s.empty()`, `false`), "s.full()", "false"},
		"two declarations of one file":   {In("shop", "limit").Replace(`5`, `6`).In("shop", "Store.full").Replace(`limit`, `9`), goods, strings.NewReplacer("limit = 5", "limit = 6", "> limit }", "> 9 }").Replace(goods)},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := s.Apply(test.edits)
			if err != nil {
				t.Fatal(err)
			}
			for path, got := range files {
				src := map[string]string{"shop/store/store.go": goods, "shop/sql/goods.sql": tables}[path]
				if want := strings.Replace(src, test.old, test.new, 1); string(got) != want || want == src {
					t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
				}
			}
			if len(files) != 1 {
				t.Errorf("%d files were changed", len(files))
			}
		})
	}
}

// An error says where it looked and what may be meant.
func TestWhatIsNotFoundIsToldWithCandidates(t *testing.T) {
	s := module(t)
	add := In("shop", "Store.Add")
	for name, test := range map[string]struct {
		edits Edits
		want  []string
	}{
		"the method has another type":      {In("shop", "Shop.Add").Drop(`x`), []string{"shop has no Shop.Add", "Store.Add (shop/store/store.go:"}},
		"the declaration is elsewhere":     {In("shop", "Pay").Drop(`x`), []string{"shop has no Pay", "Pay (bank/bank.go:3)"}},
		"two declarations have the name":   {In(".", "count").Drop(`x`), []string{"narrower", "bank/bank.go:5", "shop/till/till.go:3"}},
		"the pattern is in another place":  {add.Replace(`len(_) > limit`, `x`), []string{"Store.Add (shop/store/store.go:", "has no len(_) > limit", "candidates: Store.full"}},
		"the pattern is nowhere":           {add.Drop(`s.goods = append(s.goods, other)`), []string{"nearest", "line 17: s.goods = append(s.goods,"}},
		"the pattern is not unique":        {In("bank", "Pay").Drop(`pay(_)`), []string{"pay(_) 2 times", "line 3"}},
		"a name stands for two things":     {add.Replace(`$a = append($a, $a)`, `x`), []string{"has no"}},
		"a wildcard is no spread argument": {add.Replace(`append(_, _...)`, `x`), []string{"has no"}},
		"no condition":                     {add.Never(`append(_, _)`), []string{"has no"}},
		"the text is elsewhere":            {In("shop/sql", "goods").Text("name = good", "x"), []string{"0 times", "sell (shop/sql/goods.sql:5)"}},
		"the text is not unique":           {In("shop/sql", "sell").Text("good", "x"), []string{"times"}},
		"the pattern is no Go":             {add.Drop(`if {`), []string{"neither an expression nor statements"}},
		"what becomes of it is no Go":      {add.Replace(`s.full()`, `!`), []string{"does not parse"}},
		"syntax is asked of SQL":           {In("shop/sql", "sell").Drop(`x`), []string{"use Text"}},
		"nothing is changed":               {add, []string{"nothing is changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Apply(test.edits)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %q", err, want)
				}
			}
		})
	}
}
