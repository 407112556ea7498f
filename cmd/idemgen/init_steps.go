package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
)

// printNextSteps says what is left to do, in its order, with commands for the folder of the spec.
func printNextSteps(cmd *cobra.Command, started *generator.Started) {
	var out strings.Builder
	if started.Attributes != "" {
		fmt.Fprintf(&out, "\n.gitattributes exists; add these lines to it:\n\n%s", started.Attributes)
	}
	fmt.Fprint(&out, "\nNow make the module complete:\n\n")
	if folder := path.Dir(started.Spec); folder != "." {
		fmt.Fprintf(&out, "  cd %s\n", folder)
	}
	for _, command := range started.AddTool {
		fmt.Fprintf(&out, "  %s\n", command)
	}
	fmt.Fprint(&out, `  go mod tidy
  go test ./...   # with a Postgres that it finds or fetches, or that of $IDEMTEST_DATABASE_URL
`)
	switch {
	case started.OverTables:
		printTableSteps(&out, started)
	case !started.Kept:
		fmt.Fprintf(&out, `
Then put your own service in the place of the sample, before anything is deployed:

  rm -r %[1]s
  # write your tables, topics and events into %[2]s
  %[3]s init   # generates, and writes a main that fits them
  # where an event has handle: true or effect: write its method in handler.go; until then its
  # test fails
  %[3]s case first   # a draft: say in testdata/cases/first.yaml what must be there
  %[3]s generate && go test ./...
`, strings.Join(started.Sample, " "), path.Base(started.Spec), started.Tool)
	}
	if !started.OverTables {
		fmt.Fprintf(&out, `
Run it here, with a Postgres and a broker of its own, and again after each change:

  %s dev

Where it is deployed, the migrations are applied before it runs:

  %s%s
  go run ./%s   # with $KAFKA_BROKERS, $DATABASE_URL and what else the comment of run names
`, started.Tool, applied(started), onlyNew(started), started.Program)
	}
	fmt.Fprint(cmd.ErrOrStderr(), out.String())
}

// onlyNew is what to know of a way to apply them that does not know which ones were applied.
func onlyNew(started *generator.Started) string {
	if started.Format == "sql" {
		return "   # once; later the new files only"
	}
	return ""
}

// applied is how the migrations are applied, in the order of their numbers.
func applied(started *generator.Started) string {
	switch started.Format {
	case "goose":
		return fmt.Sprintf(`goose -dir %s postgres "$DATABASE_URL" up`, started.Migrations)
	case "golang_migrate":
		return fmt.Sprintf(`migrate -path %s -database "$DATABASE_URL" up`, started.Migrations)
	}
	return fmt.Sprintf(`for f in %s/*.sql; do psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -1 -f "$f" || break; done`, started.Migrations)
}
