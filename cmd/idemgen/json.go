package main

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
)

// answer is the value of the flag --json, and what its command prints then: one object with
// the members of the command. A command that fails has them too, and a member "error".
type answer struct {
	wanted  bool
	members map[string]any
}

func (a *answer) String() string { return "false" }
func (a *answer) Type() string   { return "bool" }

func (a *answer) Set(text string) (err error) {
	a.wanted, err = strconv.ParseBool(text)
	return err
}

// asJSON adds the flag --json. The command fills the lists; empty ones are printed, too.
func asJSON(cmd *cobra.Command, lists ...string) *answer {
	a := &answer{members: map[string]any{}}
	for _, name := range lists {
		a.members[name] = []any{}
	}
	flag := cmd.PersistentFlags().VarPF(a, "json", "", "print one JSON object; if the command fails, with a member error")
	flag.NoOptDefVal = "true"
	return a
}

// answerOf returns what a command prints for machines, nil if it has no flag --json.
func answerOf(cmd *cobra.Command) *answer {
	if flag := cmd.Flag("json"); flag != nil {
		return flag.Value.(*answer)
	}
	return nil
}

// fill takes the members from a struct. A list that is nil stays empty.
func (a *answer) fill(from any) error {
	var members map[string]json.RawMessage
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	for name, value := range members {
		if _, list := a.members[name]; !list || string(value) != "null" {
			a.members[name] = value
		}
	}
	return err
}

// given reports whether JSON is asked for in arguments that cannot be read.
func (a *answer) given(args []string) bool {
	return a.wanted || slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

func (a *answer) print(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(a.members)
}
