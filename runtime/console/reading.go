package console

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// fresh is for how long what was read serves all viewers; tests change it.
var fresh = 2 * time.Second

// cache holds what was read lately, so that many viewers cost the database one query.
type cache struct {
	mu      sync.Mutex
	entries map[string]*entry
	viewed  atomic.Int64 // when somebody last requested a page, as Unix time
}

// view notes that somebody requests a page.
func (c *cache) view() { c.viewed.Store(time.Now().Unix()) }

// idle reports whether nobody has requested a page for a while.
func (c *cache) idle() bool { return time.Now().Unix()-c.viewed.Load() > 15*60 }

// entry is one value that is read by one viewer, while others wait.
type entry struct {
	mu    sync.Mutex
	at    time.Time
	value any
	err   error
}

// mostEntries is how many values are kept before all are dropped.
const mostEntries = 200

// kept returns the value of a key, which load reads if it is older than fresh, and when it was
// read.
func kept[T any](ctx context.Context, c *cache, key string, load func(context.Context) (T, error)) (T, time.Time, error) {
	c.mu.Lock()
	if c.entries == nil || len(c.entries) > mostEntries {
		c.entries = map[string]*entry{}
	}
	e := c.entries[key]
	if e == nil {
		e = &entry{}
		c.entries[key] = e
	}
	c.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.at) > fresh {
		value, err := load(ctx)
		if ctx.Err() != nil { // a viewer who left decides nothing for others
			return value, time.Now().UTC(), err
		}
		e.value, e.err, e.at = value, err, time.Now().UTC()
	}
	value, _ := e.value.(T)
	return value, e.at, e.err
}

// forget drops everything, after a change.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = nil
}
