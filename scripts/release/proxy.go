package main

import (
	stdzip "archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// proxy is a folder that the go command takes for a module proxy. It has the versions that were
// published; other modules come from this machine's module cache, or from its usual proxy.
type proxy struct {
	repository string
	dir        string
	env        []string // of commands that use it
}

// newProxy makes an empty one below a folder.
func newProxy(ctx context.Context, repository, work string) (*proxy, error) {
	usual, err := output(ctx, repository, nil, "go", "env", "GOMODCACHE", "GOPROXY", "GOFLAGS")
	lines := strings.Split(usual+"\n\n", "\n")
	if err != nil {
		return nil, err
	}
	p := &proxy{repository: repository, dir: filepath.Join(work, "proxy")}
	p.env = []string{
		"GOPROXY=" + strings.Join([]string{asURL(p.dir), asURL(filepath.Join(lines[0], "cache", "download")), lines[1]}, ","),
		"GOMODCACHE=" + filepath.Join(work, "mod"), "GOBIN=" + filepath.Join(work, "bin"), "GOWORK=", // nothing of a former run
		"GOSUMDB=off", // it does not know a version that is not published
		"GOFLAGS=" + strings.TrimSpace(lines[2]+" -modcacherw"),
	}
	return p, os.MkdirAll(filepath.Join(p.dir, filepath.FromSlash(path), "@v"), 0o755)
}

func asURL(dir string) string { return "file://" + filepath.ToSlash(dir) }

// publish makes a revision a version of the module, and says how large it is.
func (p *proxy) publish(ctx context.Context, version, revision string) (string, error) {
	files, err := committed(ctx, p.repository, revision)
	if err != nil {
		return "", err
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, module.Version{Path: path, Version: version}, files); err != nil {
		return "", err
	}
	goMod, err := output(ctx, p.repository, nil, "git", "show", revision+":go.mod")
	if err != nil {
		return "", err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC()})
	if err != nil {
		return "", err
	}
	at := filepath.Join(p.dir, filepath.FromSlash(path), "@v")
	for name, content := range map[string][]byte{version + ".zip": archive.Bytes(), version + ".mod": []byte(goMod + "\n"), version + ".info": info} {
		if err := os.WriteFile(filepath.Join(at, name), content, 0o600); err != nil {
			return "", err
		}
	}
	list, err := os.OpenFile(filepath.Join(at, "list"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	if _, err := io.WriteString(list, version+"\n"); err != nil {
		return "", err
	}
	commit, err := output(ctx, p.repository, nil, "git", "rev-parse", "--short", revision)
	if err != nil {
		return "", err
	}
	found := fmt.Sprintf("%s is %s, %d bytes", version, commit, archive.Len())
	return found, list.Close()
}

// archived is a file of a commit.
type archived struct{ *stdzip.File }

func (f archived) Path() string                 { return f.Name }
func (f archived) Lstat() (os.FileInfo, error)  { return f.FileInfo(), nil }
func (f archived) Open() (io.ReadCloser, error) { return f.File.Open() }

// committed are the files of a revision, as the go command takes them from Git. Unlike
// [zip.CreateFromVCS] this also works in a worktree.
func committed(ctx context.Context, repository, revision string) (files []zip.File, err error) {
	cmd := exec.CommandContext(ctx, "git", "-c", "core.autocrlf=input", "-c", "core.eol=lf", "archive", "--format=zip", revision)
	cmd.Dir, cmd.Stderr = repository, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git archive %s: %w", revision, err)
	}
	archive, err := stdzip.NewReader(bytes.NewReader(out), int64(len(out)))
	if err != nil {
		return nil, err
	}
	for _, f := range archive.File {
		if !f.FileInfo().IsDir() {
			files = append(files, archived{f})
		}
	}
	return files, nil
}
