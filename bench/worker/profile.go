package main

import (
	"errors"
	"os"
	"runtime/pprof"
)

// startProfile writes a CPU profile to a file until the returned function is called, and then a
// profile of all allocations beside it, under the name with .allocs. No name is no profile.
func startProfile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		allocs, err := os.Create(name + ".allocs")
		if err == nil {
			err = errors.Join(pprof.Lookup("allocs").WriteTo(allocs, 0), allocs.Close())
		}
		return errors.Join(file.Close(), err)
	}, nil
}
