package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/house"
	"github.com/idemgen/idemgen/scripts/mutants/compile"
	"github.com/idemgen/idemgen/scripts/mutants/draw"
	"github.com/idemgen/idemgen/scripts/mutants/joint"
)

// drawnBug is a bug that was drawn.
type drawnBug struct {
	draw.Bug
	number int
	dir    string // of its package
	text   string
	plays  []*play // that reach it, in the order in which they are asked
}

// raffle draws bugs, and says which of them the tests near them catch.
type raffle struct {
	*lab
	bugs []*drawnBug

	mu    sync.Mutex
	fates map[*drawnBug]string // "" of a bug that was caught, else why not
}

// runDrawn draws bugs in the product's packages that the pattern matches, and plays them.
func runDrawn(ctx context.Context, o options) error {
	l, err := newLab(".", 1)
	if err != nil {
		return err
	}
	defer l.close()
	packages, err := listPackages(ctx, l.root)
	if err != nil {
		return err
	}
	r := &raffle{lab: l, fates: map[*drawnBug]string{}}
	if err := r.draw(packages, o); err != nil {
		return err
	}
	fmt.Printf("%d bugs are drawn and compiled together\n", len(r.bugs))
	if err := r.watchAll(ctx, packages, o.workers); err != nil {
		return err
	}
	n := 0
	each(r.bugs, o.workers, func(b *drawnBug) {
		start := time.Now()
		fate, by := r.try(ctx, b)
		if ctx.Err() != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fates[b] = fate
		n++
		fmt.Printf("%7s %s\n        %s (%.0f s)\n", fmt.Sprintf("%d/%d", n, len(r.bugs)), b.text, cmp.Or(fate, "caught by "+by), time.Since(start).Seconds())
	})
	r.print(o)
	return ctx.Err()
}

// draw draws the bugs, of those that compile.
func (r *raffle) draw(packages []*modulePackage, o options) error {
	var dirs []string
	for _, p := range packages {
		if house.Of(filepath.Clean(p.dir())) != "" && o.only.MatchString(p.dir()) {
			dirs = append(dirs, p.dir())
		}
	}
	c, err := compile.New(r.root, dirs)
	if err != nil {
		return err
	}
	sources := map[string][]byte{}
	read := func(path string) []byte {
		if sources[path] == nil {
			sources[path], err = os.ReadFile(filepath.Join(r.root, path))
		}
		return sources[path]
	}
	var all []draw.Bug
	for _, dir := range dirs {
		p, wrong := c.Package(filepath.Clean(dir))
		if wrong != nil {
			return fmt.Errorf("%s: %w", dir, wrong)
		}
		all = append(all, draw.All(p, read)...)
	}
	if err != nil {
		return err
	}
	set := joint.New()
	draw.Draw(all, o.draw, o.seed, func(b draw.Bug) bool {
		src, number := read(b.Path), len(r.bugs)+1
		after := b.Apply(src)
		dir := filepath.Dir(b.Path)
		if c.Check(dir, map[string][]byte{b.Path: after}) != nil ||
			set.Add(number, map[string]joint.Sources{b.Path: {Before: src, After: after}}) != nil {
			return false
		}
		r.bugs = append(r.bugs, &drawnBug{Bug: b, number: number, dir: "./" + dir, text: b.Text(src)})
		return true
	})
	fmt.Printf("%d places of %d packages\n", len(all), len(dirs))
	r.joint.overlay, err = set.Overlay(r.root, r.dir)
	return err
}

// print prints the share of each group, and the bugs that were not caught.
func (r *raffle) print(o options) {
	all, not := map[string]int{}, map[string]int{}
	var lines []string
	for _, b := range r.bugs {
		fate, played := r.fates[b]
		if !played {
			continue
		}
		g := house.Of(filepath.Clean(b.dir))
		all[g]++
		all["all"]++
		if fate != "" {
			not[g]++
			not["all"]++
			lines = append(lines, b.text+"\n    "+fate)
		}
	}
	slices.Sort(lines)
	fmt.Printf("\nnot caught:\n%s\n\nseed %d:\n", strings.Join(lines, "\n"), o.seed)
	for _, g := range append(slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(g string) bool { return g == "all" }), "all") {
		fmt.Printf("%-20s %3d of %3d caught (%.0f %%)\n", g, all[g]-not[g], all[g], 100*float64(all[g]-not[g])/float64(max(all[g], 1)))
	}
}
