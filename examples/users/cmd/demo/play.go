package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/idemgen/idemgen/examples/users/accounts"
)

const (
	half   = 150 // users
	people = 4   // who work beside each other
)

// changes counts what was done.
type changes struct{ created, renamed, deleted int }

func (c *changes) add(d changes) {
	c.created += d.created
	c.renamed += d.renamed
	c.deleted += d.deleted
}

func (c changes) events() int { return c.created + c.renamed + c.deleted }

// play changes the users from one number up to another.
func (w *world) play(ctx context.Context, from, to int) (done changes, err error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for worker := range people {
		all.Go(func() {
			for n := from + worker; n < to; n += people {
				one, failed := w.user(ctx, n)
				mu.Lock()
				done.add(one)
				err = errors.Join(err, failed)
				mu.Unlock()
				if failed != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return done, err
}

// user is the life of one user: each third one is renamed, each fifth one leaves.
func (w *world) user(ctx context.Context, n int) (done changes, err error) {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	s := accounts.Service{DB: w.accounts.pool}
	if err := s.Create(ctx, accounts.User{ID: id, Email: fmt.Sprintf("user-%d@example.com", n), FullName: fmt.Sprintf("User %d", n)}); err != nil {
		return done, err
	}
	done.created++
	if n%3 == 0 {
		if err := s.Rename(ctx, id, fmt.Sprintf("Renamed %d", n)); err != nil {
			return done, err
		}
		done.renamed++
	}
	if n%5 == 0 {
		if err := s.Delete(ctx, id); err != nil {
			return done, err
		}
		done.deleted++
	}
	return done, nil
}
