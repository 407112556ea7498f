package gopkg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shop is a module whose packages declare types in many ways. Package orders is the one that is
// generated into, and does not compile yet.
var shop = map[string]string{
	"go.mod":                 "module example.com/shop\n\ngo 1.26\n",
	"orders/types.go":        "package orders\n\ntype Number string\n\nvar _ = NewConsumer\n\ntype Broken struct{ X Missing }\n",
	"money/money.go":         "package money\n\nimport \"time\"\n\ntype ID [16]byte\ntype Text string\ntype Token []byte\ntype At time.Time\ntype Wrapped struct{ time.Time }\ntype Amount struct{ n int }\n\nfunc (a *Amount) UnmarshalText(b []byte) error { return nil }\n\ntype Other struct{}\n\nfunc (Other) UnmarshalText(b string) error { return nil }\n\ntype Alias = Text\ntype List[T any] []T\ntype Parser interface{ UnmarshalText([]byte) error }\ntype Unknown Nowhere\n\nvar Value Text\n\nfunc broken() { return 1 }\n",
	"uses/uses.go":           "package uses\n\nimport _ \"example.com/shop/orders\"\n\ntype Text string\n",
	"far/far.go":             "package far\n\nimport _ \"example.com/shop/uses\"\n\ntype Text string\n",
	"prog/main.go":           "package main\n\ntype Text string\n\nfunc main() {}\n",
	"internal/in/i.go":       "package in\n\ntype Text string\n",
	"other/internal/in/i.go": "package in\n\ntype Text string\n",
	"tags/tags.go":           "//go:build never\n\npackage tags\n\ntype Text string\n",
}

func TestATypeIsUsedAsItsPackageDeclaresIt(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range shop {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		path, name, basic string
		parse             bool
		want              string // package and how values are read, or a part of the flaw
	}{
		{"example.com/shop/money", "ID", "[16]byte", true, "money converts"},
		{"example.com/shop/money", "Text", "string", false, "money converts"},
		{"example.com/shop/money", "Alias", "string", false, "money converts"},
		{"example.com/shop/money", "Token", "[]byte", false, "money converts"},
		{"example.com/shop/money", "At", "time.Time", true, "money converts"},
		{"time", "Time", "time.Time", true, "time converts"},
		{"time", "Duration", "int64", false, "time converts"},
		{"math/big", "Int", "", true, "big parses"},
		{"example.com/shop/money", "Wrapped", "time.Time", true, "money parses"},
		{"example.com/shop/money", "Amount", "", true, "money parses"},
		{"example.com/shop/internal/in", "Text", "string", false, "in converts"},
		{"example.com/shop/orders", "Number", "string", false, " converts"},
		{"example.com/shop/orders", "Broken", "string", false, "values do not convert to it"},
		{"example.com/shop/money", "Text", "int64", false, "values do not convert to it"},
		{"example.com/shop/money", "Text", "", true, "values do not convert to it"},
		{"example.com/shop/money", "Amount", "string", false, "values do not convert to it"},
		{"example.com/shop/money", "Other", "", true, "values do not convert to it"},
		{"example.com/shop/money", "Parser", "", true, "values do not convert to it"},
		{"example.com/shop/money", "List", "[]byte", false, "it has type parameters"},
		{"example.com/shop/money", "Unknown", "string", false, "its declaration cannot be read (money.go:21:14: undefined: Nowhere)"},
		{"example.com/shop/money", "Value", "string", false, "package example.com/shop/money declares no type Value"},
		{"example.com/shop/money", "Nothing", "string", false, "package example.com/shop/money declares no type Nothing"},
		{"example.com/shop/nowhere", "Text", "string", false, "package example.com/shop/nowhere is not found"},
		{"example.org/else", "Text", "string", false, "package example.org/else is not found"},
		{"example.com/shop/tags", "Text", "string", false, "package example.com/shop/tags is not found"},
		{"example.com/shop/prog", "Text", "string", false, "package example.com/shop/prog is a program"},
		{"example.com/shop/other/internal/in", "Text", "string", false, "package example.com/shop/other/internal/in is internal to example.com/shop/other"},
		{"example.com/shop/uses", "Text", "string", false, "package example.com/shop/uses imports the one that is generated"},
		{"example.com/shop/far", "Text", "string", false, "package example.com/shop/far imports the one that is generated"},
	}
	var asked []Type
	for _, c := range cases {
		asked = append(asked, Type{filepath.Join(root, "orders"), c.path, c.name, c.basic, c.parse})
	}
	found, err := Types(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		is := found[asked[i]]
		got := is.Flaw
		if got == "" {
			got = is.Package + map[bool]string{true: " parses", false: " converts"}[is.Parses]
		} else if is.Hint == "" {
			t.Errorf("%s.%s: no hint", c.path, c.name)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s.%s for %q: got %q, want %q", c.path, c.name, c.basic, got, c.want)
		}
	}
}
