package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
)

// An argument that may hold a password is shown nowhere: not as it is, quoted, as a path, nor as
// the value of a flag.
func TestArgumentsThatMayHoldAPassword(t *testing.T) {
	const url = "postgres://ann:x@h/d"
	for _, c := range []struct{ text, arg, want string }{
		{"no file " + url, url, "no file " + masked}, {"no file postgres:/ann:x@h/d here", url, "no file " + masked + " here"}, {`no file "` + url + `"`, url, `no file ` + masked},
		{"cannot be " + url, "--from-db=" + url, "cannot be " + masked}, {"unknown --from-db=" + url, "--from-db=" + url, "unknown " + masked},
		{"a=b of --limit", "--limit=7", "a=b of --limit"}, {"x " + url + "/...", url + "/...", "x " + masked}, {"none in postgres:/ann:x@h/d", url + "/...", "none in " + masked},
		{"host=h PASSWORD=x y", "host=h PASSWORD=x", masked + " y"}, {"ann@h", "ann@h", masked}, {"orders", "orders", "orders"}, {"is @", "--x=", "is @"}, {"a\tb@c", "a\tb@c", masked}, {`a\tb@c`, "a\tb@c", masked},
	} {
		if got := Mask(c.text, []string{"other", c.arg}); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.text, c.arg, got, c.want)
		}
	}
}

// An error of connecting has no user and no database: only why the server lets nobody in, each
// reason once.
func TestErrorsOfConnectingAreMasked(t *testing.T) {
	other := errors.New("no such table")
	if got := MaskConnect(other); got != other {
		t.Errorf("another error: %v", got)
	}
	if MaskConnect(nil) != nil {
		t.Error("no error is one")
	}
	both := &once{errors.Join(errors.New("refused\nreset"), errors.New(" refused"))}
	if both.Error() != "refused; reset" || !strings.Contains(both.Unwrap().Error(), "reset") {
		t.Errorf("%v", both)
	}
	_, err := pgconn.Connect(t.Context(), "postgres://secretuser@127.0.0.1:1/secretname?connect_timeout=1")
	got := MaskConnect(fmt.Errorf("connect to it: %w", err)).Error()
	if !strings.HasPrefix(got, "connect to it: failed to connect: ") || strings.Contains(got, "secret") || strings.Count(got, "refused") != 1 {
		t.Errorf("%s", got)
	}
	got = MaskConnect(err).Error()
	if !strings.HasPrefix(got, "failed to connect: ") {
		t.Errorf("%s", got)
	}
}

// A text that is wrapped keeps its words, and no line is longer than a terminal unless a word is.
func TestTextsAreWrappedAndQuoted(t *testing.T) {
	word := strings.Repeat("é", 45)
	for _, c := range []struct{ got, want string }{
		{Wrap("a b"), "          a b"}, {Wrap(""), ""}, {Wrap(word + " " + word[:88]), "          " + word + " " + word[:88]},
		{Wrap(word + " " + word), "          " + word + "\n            " + word}, {Wrap(word + " " + word[:86] + " x"), "          " + word + " " + word[:86] + "\n            x"},
		{Quote("a b"), "a b"}, {Quote(""), `""`}, {Quote(" a"), `" a"`}, {Quote("a "), `"a "`}, {Quote(`a"`), `"a\""`}, {Quote("a\n"), `"a\n"`}, {Quote("é"), "é"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// The object for machines has all members, and no list that is null.
func TestAnswersAreOneObject(t *testing.T) {
	a := AsJSON(&cobra.Command{}, "list", "other")
	if err := a.Set("true"); err != nil || !a.Wanted {
		t.Error("it is not wanted", err)
	}
	if err := a.Fill(struct {
		List  []int `json:"list"`
		Other []int `json:"other"`
		Null  *int  `json:"null"`
		Text  string
	}{nil, []int{1}, nil, "b"}); err != nil {
		t.Fatal(err)
	}
	a.Members["own"] = "<b>"
	var out, compact bytes.Buffer
	if err := a.print(&out); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&compact, out.Bytes()); err != nil || compact.String() != `{"Text":"b","list":[],"null":null,"other":[1],"own":"<b>"}` || !strings.Contains(out.String(), "\n  \"list\"") {
		t.Errorf("%s, %v", out.String(), err)
	}
	if err := a.Fill(func() {}); err == nil {
		t.Error("what is no object fills it")
	}
	for args, want := range map[string]bool{"--json": true, "--json=true": true, "--json=false x": false, "": false} {
		if got := (&Answer{}).given(strings.Fields(args)); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
	if AnswerOf(&cobra.Command{}) != nil {
		t.Error("a command without the flag has an answer")
	}
}
