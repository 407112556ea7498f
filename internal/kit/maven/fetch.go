//go:build unix

package maven

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

// Archive is a file of the repository.
type Archive struct {
	Path string // below the repository's root
	Sum  string // SHA-256
}

// Jar is the archive with the coordinates group:artifact:version.
func Jar(coordinates, sum string) (Archive, error) {
	parts := strings.Split(coordinates, ":")
	if len(parts) != 3 {
		return Archive{}, fmt.Errorf("%q are no coordinates: want group:artifact:version", coordinates)
	}
	group, artifact, version := strings.ReplaceAll(parts[0], ".", "/"), parts[1], parts[2]
	return Archive{path.Join(group, artifact, version, artifact+"-"+version+".jar"), sum}, nil
}

const timeout = 10 * time.Minute

// Fetch writes archives into a folder, under the last part of their paths. One that is not the
// pinned one is refused, and no other one is written then.
//
// A child does it: it gives its HTTP client away to a library, which a process with other work
// must not.
func Fetch(ctx context.Context, dir string, archives ...Archive) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	wanted, err := json.Marshal(order{dir, archives})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+roleFetcher)
	cmd.Stdin = bytes.NewReader(wanted)
	cmd.SysProcAttr = postgres.Bound()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(ctx.Err(), err), strings.TrimSpace(string(out)))
	}
	return nil
}
