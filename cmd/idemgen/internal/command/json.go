package command

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
)

// Answer is the value of the flag --json, and what its command prints then: one object with
// the members of the command. A command that fails has them too, and a member "error".
type Answer struct {
	Wanted  bool
	Members map[string]any
}

func (a *Answer) String() string { return "false" }
func (a *Answer) Type() string   { return "bool" }

func (a *Answer) Set(text string) (err error) {
	a.Wanted, err = strconv.ParseBool(text)
	return err
}

// AsJSON adds the flag --json. The command fills the lists; empty ones are printed, too.
func AsJSON(cmd *cobra.Command, lists ...string) *Answer {
	a := &Answer{Members: map[string]any{}}
	for _, name := range lists {
		a.Members[name] = []any{}
	}
	flag := cmd.PersistentFlags().VarPF(a, "json", "", "print one JSON object; if the command fails, with a member error")
	flag.NoOptDefVal = "true"
	return a
}

// AnswerOf returns what a command prints for machines, nil if it has no flag --json.
func AnswerOf(cmd *cobra.Command) *Answer {
	if flag := cmd.Flag("json"); flag != nil {
		return flag.Value.(*Answer)
	}
	return nil
}

// Fill takes the members from a struct. A list that is nil stays empty.
func (a *Answer) Fill(from any) error {
	var members map[string]json.RawMessage
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	for name, value := range members {
		if _, list := a.Members[name]; !list || string(value) != "null" {
			a.Members[name] = value
		}
	}
	return err
}

// given reports whether JSON is asked for in arguments that cannot be read.
func (a *Answer) given(args []string) bool {
	return a.Wanted || slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

func (a *Answer) print(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(a.Members)
}
