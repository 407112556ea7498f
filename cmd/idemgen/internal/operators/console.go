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
		Short: "Serve web pages about stuck partitions, dead letters and history",
		Long: `Serves web pages about the services of a database on this machine, and prints their address. In
a terminal it also opens them in a browser, by a file that only you can read, so that no list of
processes shows the token. A browser in a sandbox may not see the file: then open the printed
address. Anyone who has the address with its token may do what you may do: stop the command when
you are done. The pages show partitions without progress and the ways out, dead letters in
groups, effects, the outbox, and the actions of operators.

The specs define how records are decoded, which values are sensitive, and what is guaranteed.
Without the spec of a consumer, none of its records is shown. --payload permits viewing records.

--database should use a role that may only SELECT. --operator is then the role that replays and
releases; by default both are the same. Keep passwords in ~/.pgpass, because other users of the
machine see arguments. A service can also serve the pages itself, with package runtime/console.`,
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
	cmd.Flags().StringVar(&operator, "operator", "", "URL of the database with the role that makes changes (default --database)")
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:0", "local address to listen on; port 0 is any free port")
	cmd.Flags().StringVar(&o.Environment, "environment", "", "text to show on each page, such as PRODUCTION")
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "permit no changes")
	cmd.Flags().BoolVar(&payload, "payload", false, "permit viewing the records of dead letters; each view is logged")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "do not open a browser")
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
