package protofile_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/idemgen/idemgen/internal/gen/protofile"
)

// Imports are found below the spec's folder, and below each folder above the file, the nearest one
// first. One that is nowhere is an error that names it.
func TestImportsBelowOtherRoots(t *testing.T) {
	files := fstest.MapFS{
		"proto/shop/v1/orders.proto":        {Data: []byte(`syntax = "proto3"; package shop; import "shop/v1/money.proto"; import "buf/validate/validate.proto"; import "beside.proto"; message Order { Money total = 1; validate.Rule rule = 2; Beside beside = 3; }`)},
		"proto/shop/v1/money.proto":         {Data: []byte(`syntax = "proto3"; package shop; message Money { int64 cents = 1; }`)},
		"proto/shop/v1/beside.proto":        {Data: []byte(`syntax = "proto3"; package shop; message Beside {}`)},
		"proto/buf/validate/validate.proto": {Data: []byte(`syntax = "proto3"; package validate; message Rule {}`)},
		"lost.proto":                        {Data: []byte(`syntax = "proto3"; import "nowhere.proto";`)},
	}
	read := func(path string) ([]byte, error) { return fs.ReadFile(files, path) }
	set, err := protofile.Compile(read, "proto/shop/v1/orders.proto")
	if err != nil || len(set) == 0 {
		t.Error(err)
	}
	if _, err := protofile.Compile(read, "lost.proto"); err == nil || !strings.Contains(err.Error(), "nowhere.proto") {
		t.Errorf("got %v", err)
	}
}
