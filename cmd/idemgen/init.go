package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator"
)

// initialize writes a first spec and what it needs.
func initialize(ctx context.Context, c *call) int {
	start := generator.Start{Dir: "."}
	rest, code, ok := c.parse("init", func(f *flag.FlagSet) {
		f.StringVar(&start.Consumer, "consumer", "", "name of the consumer")
		f.StringVar(&start.Package, "package", "", "name of the Go package")
	})
	if !ok {
		return code
	}
	switch len(rest) {
	case 0:
	case 1:
		start.Dir = rest[0]
	default:
		return c.fail(fmt.Errorf("init takes one folder, not %s", strings.Join(rest, " ")))
	}
	started, err := generator.Init(ctx, start)
	if err != nil {
		return c.fail(err)
	}
	defer started.Close()
	fmt.Fprint(c.stderr, c.mask(started.Problems))
	if started.Refused { // a name that was given is not allowed
		return trouble
	}
	if code := c.apply(started.Result); code != done {
		return code
	}
	tool := getTool
	if started.HasTool {
		tool = ""
	}
	fmt.Fprintf(c.stderr, nextSteps, tool, started.Spec, started.Migrations, started.State)
	if started.Attributes != "" {
		fmt.Fprintf(c.stderr, "\n.gitattributes exists; add these lines to it:\n\n%s", started.Attributes)
	}
	return done
}

// getTool is the line for modules that do not have the command as a tool yet.
const getTool = "  go get -tool github.com/idemgen/idemgen/cmd/idemgen\n"

// nextSteps says what a module needs beside the files. The Kafka client is named with its
// version because go mod tidy would choose an older one.
const nextSteps = `
Now make the module complete:

%[1]s  go get github.com/confluentinc/confluent-kafka-go/v2@v2.15.0
  go mod tidy
  go test ./...

Then change %[2]s to your events, run go generate ./... and implement the methods of
Service in handler.go. The migrations of the sample's tables are written already: to replace
those tables before anything is deployed, first delete %[3]s and %[4]s. Apply
the migrations before the program runs.
`
