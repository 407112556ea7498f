package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/typecheck"
)

// Each overlay fits the files of today, and what it makes of their packages compiles.
func TestOverlaysCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Chdir("..")
	c, err := typecheck.New(t.Context(), ".", "./bench/worker", "./runtime/franz")
	if err != nil {
		t.Fatal(err)
	}
	for folder, made := range map[string][]overlay{
		"runtime/internal/engine": {withoutLedger},
		"bench/readings":          {withKey(headerKey), withKey(headerKeySamePartition)},
		"bench/payments":          {withKey(headerKey), withKey(headerKeySamePartition), withHandler(headerKey), withHandler(offsetKeyUnique)},
		"bench/notices":           {withRedis},
		"bench/worker":            {withFranz},
	} {
		for _, overlay := range made {
			replaced, err := overlay(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Check("example.com/"+folder, overlaid(t, folder, replaced)); err != nil {
				t.Errorf("%s: %v", folder, err)
			}
		}
	}
}

// overlaid are the files of a folder, tests left out. Every replaced one must be among them.
func overlaid(t *testing.T, folder string, replaced map[string]string) (files []typecheck.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		own, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		before, after := content(t, own), content(t, own)
		if replaced[own] != "" {
			after = content(t, replaced[own])
		}
		if string(before) != string(after) {
			changed++
		}
		files = append(files, typecheck.File{Name: name, Content: after})
	}
	if changed == 0 {
		t.Errorf("%s: nothing is replaced", folder)
	}
	return files
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
