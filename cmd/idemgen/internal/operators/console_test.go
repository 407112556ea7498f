package operators

import (
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Other users of the machine read the arguments of every program: the browser's do not sign in.
// What signs in is in a file that nobody else can read, and that is gone when the command ends.
func TestArgumentsOfTheBrowserSignNobodyIn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser of this test is a shell script")
	}
	dir := t.TempDir()
	for _, name := range []string{"xdg-open", "open"} {
		script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$0\" \"$@\" > %[1]s/new && mv %[1]s/new %[1]s/args\n", dir)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	db := idemtest.Migrated(t, filepath.Join(commandtest.Repository, "templates", "sql"))
	site, err := console.Local(t.Context(), "127.0.0.1:0", console.User{Name: "ana"}, console.Options{Database: db.Config().ConnString(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	plain, token, _ := strings.Cut(site.URL, "?token=")
	forget, err := browse(t.Context(), site.URL)
	if err != nil {
		t.Fatal(err)
	}
	var args []byte
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if args, err = os.ReadFile(filepath.Join(dir, "args")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	if strings.Contains(string(args), token) {
		t.Fatalf("the arguments have the token: %s", args)
	}
	words := strings.Fields(string(args))
	file := words[len(words)-1]
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): os.ModeDir | 0o700} {
		if is, err := os.Stat(path); err != nil || is.Mode() != want {
			t.Errorf("%s: %v, %v", path, is, err)
		}
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`content="0; url=([^"]*)"`).FindSubmatch(page)
	if link == nil {
		t.Fatalf("the file opens nothing: %s", page)
	}
	for address, want := range map[string]int{plain: http.StatusForbidden, html.UnescapeString(string(link[1])): http.StatusOK} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&http.Client{Jar: jar}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != want {
			t.Errorf("%s: %d %s, %v", address, answer.StatusCode, text, err)
		}
	}
	forget()
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
}
