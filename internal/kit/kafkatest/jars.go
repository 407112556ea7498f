//go:build unix

package kafkatest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/internal/kit/maven"
)

// jarsText has the coordinates of each archive, and its SHA-256: what Kafka 4.3.1, its Connect and
// Debezium's connector for Postgres 3.6.1 need to run.
//
//go:embed jars.txt
var jarsText string

// jars is the folder with all archives. They are fetched once per machine and user.
func jars(ctx context.Context) (string, error) {
	of := sha256.Sum256([]byte(jarsText))
	return once("Kafka and Debezium", "kafka", "kafka-"+hex.EncodeToString(of[:8]), func(work string) error {
		all, err := archives(jarsText)
		if err != nil {
			return err
		}
		return maven.Fetch(ctx, work, all...)
	})
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
