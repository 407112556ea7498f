//go:build !unix

package main

import "sync"

var one sync.Mutex

// alone calls f while no other call of this process runs. Here one process at a time can play
// bugs.
func alone(_ string, f func() error) error {
	one.Lock()
	defer one.Unlock()
	return f()
}
