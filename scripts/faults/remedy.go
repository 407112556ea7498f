package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// remedy is a command that a halted partition names, in what the service logs.
var remedy = regexp.MustCompile(`idemgen stream [a-z-]+ --consumer \S+ --topic \S+[^"\n]*? --reason ([a-z-]+)`)

// halted waits until partitions that halt for a reason name n commands, and returns them.
func (ps *processes) halted(ctx context.Context, n int, code halt.Code) ([]string, error) {
	var commands []string
	err := stage.Until(ctx, patience, func() (bool, error) {
		commands = remedies(ps.started, code)
		return len(commands) >= n, ps.dead()
	})
	if errors.Is(err, stage.ErrTimeout) {
		err = fmt.Errorf("%d partitions halted with %s and named a command, want %d: %q", len(commands), code, n, commands)
	}
	return commands, err
}

// remedies are the commands that processes have named for a reason.
func remedies(of []*stage.Process, code halt.Code) []string {
	named := map[string]bool{}
	for _, p := range of {
		for _, m := range remedy.FindAllStringSubmatch(string(p.Log.All()), -1) {
			if m[1] == string(code) {
				named[m[0]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// comeBack does what halted partitions ask a person to do, word by word, while the service
// runs on.
func (t *theatre) comeBack(ctx context.Context, commands []string) error {
	for _, c := range commands {
		cmd := exec.CommandContext(ctx, t.kit.program("idemgen"), strings.Fields(c)[1:]...)
		cmd.Env = append(os.Environ(), script.Database+"="+t.database())
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", c, err, out)
		}
	}
	return nil
}
