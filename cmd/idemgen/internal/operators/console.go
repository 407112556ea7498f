package operators

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/runtime/console"
)

// consoleCommand serves the web pages of a database.
func consoleCommand() *cobra.Command {
	var flags streamFlags
	var o console.Options
	var operator, address string
	var readOnly, payload, noOpen bool
	cmd := &cobra.Command{
		Use:   "console [spec | folder ...]",
		Short: "Serve web pages of a database: what makes no progress, dead letters, history",
		Long: `Serves web pages about the services of a database on this machine, prints their address, and opens
it in a browser if this is a terminal, by a file that only you can read: the token is in no list of
processes. A browser that runs in a sandbox may not see the file: open the printed address then.
Whoever has the address with its token may do what you may do: stop the command when you are done.
The pages show what makes no progress and the ways out, dead letters in groups, effects, the outbox,
and what operators did.

The specs say how records are decoded, which values are sensitive, and what is guaranteed. Without
the spec of a consumer no record of it is shown. --payload permits to look at records.

--database should be of a role that may only SELECT; --operator then is the role that replays and
releases, by default the same as --database. Keep passwords in ~/.pgpass: other users of the machine
see arguments. A service can serve the pages itself: package
runtime/console.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Database = flags.database; o.Database == "" {
				o.Database = os.Getenv("DATABASE_URL")
			}
			if o.Operator = operator; o.Operator == "" && !readOnly {
				o.Operator = o.Database
			}
			if readOnly && operator != "" {
				return errors.New("--read-only and --operator exclude each other")
			}
			db, err := command.ConnectTo(cmd.Context(), cmd.ErrOrStderr(), "--database", flags.database, anywhere) // a clear error at once
			if err != nil {
				return err
			}
			db.Close()
			if len(args) > 0 {
				specs, err := command.FindSpecs(args)
				if err != nil {
					return err
				}
				for _, s := range specs {
					o.Specs = append(o.Specs, command.SpecFolder(s.Path))
				}
			} else if _, err := os.Stat("idemgen.yaml"); err == nil {
				o.Specs = []fs.FS{os.DirFS(".")}
			}
			o.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			site, err := console.Local(cmd.Context(), address, console.User{Name: os.Getenv("USER"), Act: !readOnly, Payload: payload}, o)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), site.URL)
			if out, err := os.Stdout.Stat(); !noOpen && err == nil && out.Mode()&os.ModeCharDevice != 0 {
				forget, err := browse(cmd.Context(), site.URL)
				defer forget()
				if err != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "no browser was opened, open the address above: %v\n", err)
				}
			}
			return <-site.Done
		},
	}
	flags.define(cmd)
	cmd.Flags().StringVar(&operator, "operator", "", "URL of the database with the role that changes it (default --database)")
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:0", "address of this machine to serve at; port 0 is any free one")
	cmd.Flags().StringVar(&o.Environment, "environment", "", "text that each page shows, such as PRODUCTION")
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "nobody can change anything")
	cmd.Flags().BoolVar(&payload, "payload", false, "permit to look at the records of dead letters; each view is logged")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "open no browser")
	withoutCompletions(cmd)
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

// browse opens the console in the user's browser, if there is one. Every user of the machine can
// read the arguments of every program, so the browser is given a file that only this user can
// read. The file lasts until the returned function is called.
func browse(ctx context.Context, url string) (forget func(), err error) {
	name := map[string]string{"darwin": "open", "windows": "explorer"}[runtime.GOOS]
	if name == "" {
		name = "xdg-open"
	}
	if name, err = exec.LookPath(name); err != nil {
		return func() {}, nil // there is none
	}
	folder, err := os.MkdirTemp("", "idemgen-console-")
	if err != nil {
		return func() {}, err
	}
	forget = func() { _ = os.RemoveAll(folder) }
	file, url := filepath.Join(folder, "console.html"), html.EscapeString(url)
	page := fmt.Sprintf(`<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=%s"><a href="%s">The console</a>`, url, url)
	if err = os.WriteFile(file, []byte(page), 0o600); err == nil {
		err = exec.CommandContext(ctx, name, file).Start() //nolint:gosec // a file that was just written
	}
	return forget, err
}
