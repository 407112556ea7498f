package console_test

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log"
	"net/http"
	"os"

	"github.com/idemgen/idemgen/runtime/console"
)

// A package of a service has its spec in Go with: //go:embed idemgen.yaml
var ordersSpec embed.FS

// A team reads the pages behind a proxy that signs people in; two of them may act.
func ExampleHandler() {
	pages, err := console.Handler(context.Background(), console.Options{
		Database: os.Getenv("READER_DATABASE_URL"),
		Operator: os.Getenv("OPERATOR_DATABASE_URL"),
		Hosts:    []string{"ops.example.com"},
		Specs:    []fs.FS{ordersSpec},
		Auth: func(r *http.Request) (console.User, error) {
			name, signedIn := userOf(r)
			if !signedIn {
				return console.User{}, errors.New("not signed in")
			}
			return console.User{Name: name, Act: name == "ana" || name == "bo"}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/idemgen/", pages)
}

type userKey struct{}

// userOf returns the user that the service's own middleware has put into the context.
func userOf(r *http.Request) (name string, signedIn bool) {
	name, signedIn = r.Context().Value(userKey{}).(string)
	return name, signedIn
}
