package main

import (
	"fmt"

	"github.com/idemgen/idemgen/scripts/mutants/joint"
)

// jointBugs are the bugs of a run that are compiled together.
type jointBugs struct {
	overlay string         // "" if there are none
	numbers map[string]int // by the bug's name
}

// join compiles as many of the bugs together as can be: those that change bodies of functions.
func (l *lab) join(bugs []mutant) error {
	set := joint.New()
	l.joint.numbers = map[string]int{}
	for i, m := range bugs {
		changed, err := l.sources.Apply(m.edits)
		if err != nil {
			continue // playing it says why
		}
		files := map[string]joint.Sources{}
		for path, src := range changed {
			files[path] = joint.Sources{Before: l.sources.Source(path), After: src}
		}
		if set.Add(i+1, files) == nil {
			l.joint.numbers[m.name] = i + 1
		}
	}
	var err error
	if len(l.joint.numbers) > 0 {
		l.joint.overlay, err = set.Overlay(l.root, l.dir)
	}
	fmt.Printf("%d of them are compiled together\n", len(l.joint.numbers))
	return err
}

// flags are those of the go command for a program that has the joint bugs.
func (j jointBugs) flags() []string {
	if j.overlay == "" {
		return nil
	}
	return []string{"-overlay=" + j.overlay}
}
