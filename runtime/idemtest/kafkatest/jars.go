//go:build unix

package kafkatest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/idemgen/idemgen/runtime/idemtest/internal/maven"
	"github.com/idemgen/idemgen/runtime/idemtest/internal/postgres"
)

// jarsText has the coordinates of each archive, and its SHA-256: what Kafka 4.3.1, its Connect and
// Debezium's connector for Postgres 3.6.1 need to run.
//
//go:embed jars.txt
var jarsText string

// jars is the folder with all archives. They are fetched once per machine and user.
func jars(ctx context.Context) (string, error) {
	cache, err := postgres.CacheDir()
	if err != nil {
		return "", err
	}
	lock, err := postgres.Lock(filepath.Join(cache, "kafka.lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	of := sha256.Sum256([]byte(jarsText))
	home := filepath.Join(cache, "kafka-"+hex.EncodeToString(of[:8]))
	if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
		return home, err
	}
	fmt.Fprintf(os.Stderr, "idemtest: fetching Kafka and Debezium once, into %s\n", home)
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	all, err := archives(jarsText)
	if err != nil {
		return "", err
	}
	if err := maven.Fetch(ctx, work, all...); err != nil {
		return "", fmt.Errorf("fetch Kafka and Debezium: %w", err)
	}
	return home, os.Rename(work, home)
}

// archives reads lines of coordinates and sums.
func archives(text string) (all []maven.Archive, err error) {
	for line := range strings.Lines(text) {
		coordinates, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		a, err := maven.Jar(coordinates, sum)
		if err != nil {
			return nil, fmt.Errorf("jars.txt: %w", err)
		}
		all = append(all, a)
	}
	return all, nil
}
