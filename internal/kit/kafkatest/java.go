//go:build unix

package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// usualJava are the folders where packages put Java: Debian and Red Hat, Homebrew, macOS.
var usualJava = []string{
	"/usr/lib/jvm/*/bin/java", "/opt/homebrew/opt/openjdk*/bin/java", "/usr/local/opt/openjdk*/bin/java",
	"/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
}

// java finds a Java that is new enough, and fetches one if there is none.
func java(ctx context.Context, oldest int) (string, error) {
	var candidates []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, "bin", "java"))
	}
	if path, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, path)
	}
	for _, pattern := range usualJava {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		slices.Reverse(found)              // newer ones first, as they are usually named
		candidates = append(candidates, found...)
	}
	for _, path := range candidates {
		if version, err := javaVersion(ctx, path); err == nil && version >= oldest {
			return path, nil
		}
	}
	path, err := fetchedJava(ctx)
	if err == nil {
		_, err = javaVersion(ctx, path)
	}
	if err != nil {
		return "", &MissingError{oldest, err}
	}
	return path, nil
}

var quotedVersion = regexp.MustCompile(`version "(\d+)`)

// javaVersion asks a Java for the number of its release.
func javaVersion(ctx context.Context, path string) (int, error) {
	out, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s -version: %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	match := quotedVersion.FindSubmatch(out)
	if match == nil {
		return 0, errors.New(path + " -version names no version")
	}
	return strconv.Atoi(string(match[1]))
}

// MissingError says that no Java was found and names the commands that help.
type MissingError struct {
	Oldest int // that is wanted
	Err    error
}

func (e *MissingError) Error() string {
	return fmt.Sprintf(`no Java %[1]d or later found in $JAVA_HOME, PATH and the usual folders, and none fetched that runs: %[2]v
Any one of these helps:
  apt-get install -y openjdk-%[1]d-jre-headless
  brew install openjdk@%[1]d
  export JAVA_HOME=/path/of/java`, e.Oldest, e.Err)
}

// Unwrap returns why none could be fetched.
func (e *MissingError) Unwrap() error { return e.Err }
