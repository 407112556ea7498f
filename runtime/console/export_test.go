package console

import "time"

// Route is a page for tests of all of them.
type Route struct {
	Name, Method string
	Act, Payload bool // the right that it needs
}

// Routes are all pages.
func Routes() (all []Route) {
	for _, p := range table {
		all = append(all, Route{p.name, p.method, p.needs == acts, p.needs == payloads})
	}
	return all
}

// Assets are the names of all files besides the pages.
func Assets() (all []string) {
	for name := range assets {
		all = append(all, name)
	}
	return all
}

// KeepNothing makes every page read the database.
func KeepNothing() (again func()) {
	was := fresh
	fresh = -time.Second
	return func() { fresh = was }
}
