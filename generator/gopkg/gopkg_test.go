package gopkg

import (
	"maps"
	"slices"
	"testing"
)

// Whatever else is wrong with the files, and whether their imports exist, what they declare
// is found; on every system it is the same.
func TestOf(t *testing.T) {
	got := Of([]File{
		{"a.go", []byte(`package x

import "example.com/not/there"

type Service struct{}

func (s *Service) OrderPaid() { undefined.F() }

const A, _ = 1, 2

var B = nothing

func init() {}

func F[T any]() {}
`)},
		{"broken.go", []byte("package x\n\nfunc Before() {}\n\nfunc (((\n")},
		{"a_test.go", []byte("package x\n\nfunc newTestHandler() {}\n")},
		{"ext_test.go", []byte("package x_test\n\nfunc External() {}\n")},
		{"other_os.go", []byte("//go:build plan9\n\npackage x\n\nfunc Elsewhere() {}\n")},
		{"name_plan9.go", []byte("package x\n\nfunc ByName() {}\n")},
		{"strange.go", []byte("//go:build ((\n\npackage x\n\nfunc Strange() {}\n")},
		{"tool.go", []byte("//go:build ignore\n\npackage main\n\nfunc Tool() {}\n")},
		{"_old.go", []byte("package x\n\nfunc Old() {}\n")},
		{".hidden.go", []byte("package x\n\nfunc Hidden() {}\n")},
		{"empty.go", nil},
	})
	want := []string{"A", "B", "Before", "ByName", "Elsewhere", "F", "Service", "Service.OrderPaid", "Strange", "newTestHandler"}
	if names := slices.Sorted(maps.Keys(got.Declared)); !slices.Equal(names, want) {
		t.Errorf("%v are declared, want %v", names, want)
	}
	if !got.Method("OrderPaid") || got.Method("Service") || got.Method("F") {
		t.Error("Method does not tell methods from functions")
	}
	if at := got.Declared["Service"]; at.Filename != "a.go" || at.Line != 5 || at.Column != 6 {
		t.Errorf("Service is at %v", at)
	}
	if names := slices.Sorted(maps.Keys(got.Clauses)); !slices.Equal(names, []string{"x"}) {
		t.Errorf("package clauses %v", names)
	}
}
