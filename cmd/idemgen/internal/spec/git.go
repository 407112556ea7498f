package spec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/idemgen/idemgen/generator"
)

// stateFile is what generate writes beside a spec.
const stateFile = "idem.state.yaml"

// specAt is a spec as a commit of git has it; nil if the commit does not have it.
func specAt(ctx context.Context, commit, spec string) (*generator.Before, error) {
	at := gitFiles{ctx, filepath.Dir(filepath.FromSlash(spec)), commit}
	if _, err := at.git("rev-parse", "--is-inside-work-tree"); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New("plan reads the earlier version from git, but there is no git command; or name two specs: idemgen plan old.yaml new.yaml")
		}
		return nil, fmt.Errorf("%s is not in a git repository, so there is no earlier version; name two specs: idemgen plan old.yaml new.yaml", spec)
	}
	if _, err := at.git("rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}"); err != nil {
		return nil, fmt.Errorf("git has no commit %q; name one with --base, or two specs: idemgen plan old.yaml new.yaml", commit)
	}
	content, err := at.Read(path.Base(spec))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before := &generator.Before{Spec: generator.Spec{Path: at.Show(path.Base(spec)), Content: content, File: at.Read}, StatePath: at.Show(stateFile)}
	if before.State, err = at.Read(stateFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return before, nil
}

// gitFiles are the files of a commit, relative to a folder.
type gitFiles struct {
	ctx    context.Context
	dir    string
	commit string
}

func (g gitFiles) Read(name string) ([]byte, error) {
	found, err := g.git("ls-tree", "--full-tree", "--name-only", g.commit, "--", ":(top,literal)"+g.inTree(name))
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(found)) == 0 {
		return nil, fmt.Errorf("%s: %w", g.Show(name), fs.ErrNotExist)
	}
	return g.git("cat-file", "blob", g.commit+":./"+path.Clean(name))
}

func (g gitFiles) Show(name string) string {
	return g.commit + ":" + path.Join(filepath.ToSlash(g.dir), name)
}

// inTree is a file's path in the repository.
func (g gitFiles) inTree(name string) string {
	prefix, err := g.git("rev-parse", "--show-prefix")
	if err != nil {
		return name
	}
	return path.Join(strings.TrimSpace(string(prefix)), name)
}

// git runs git in the folder.
func (g gitFiles) git(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(g.ctx, "git", args...)
	cmd.Dir = g.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
