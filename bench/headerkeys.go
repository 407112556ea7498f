package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keyHeader holds the idempotency key of each record, for the rival that stores keys.
const keyHeader = "Idempotency-Key"

// withHeaderKeys generates the telemetry example anew, with the header as its key, into the
// folder spec of dir. It returns an overlay in which its code replaces the example's own.
func withHeaderKeys(ctx context.Context, dir string) (string, error) {
	const offsetKey, spec = "{source: {record: offset}}", "idemgen.yaml"
	src, err := os.ReadFile(filepath.Join(example, spec))
	if err != nil {
		return "", err
	}
	if strings.Count(string(src), offsetKey) != 1 {
		return "", fmt.Errorf("%s/%s does not hold the key %s", example, spec, offsetKey)
	}
	headerKey := fmt.Sprintf("{source: {header: %s}, window: 1h}", keyHeader)
	folder := filepath.Join(dir, "spec")
	changed := strings.Replace(string(src), offsetKey, headerKey, 1)
	if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(filepath.Join(folder, spec), []byte(changed), 0o644)); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, "go", "run", "./cmd/idemgen", "generate", folder).CombinedOutput(); err != nil {
		return "", fmt.Errorf("generate the example with header keys: %w\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*_gen.go"))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, file := range files {
		own, err := filepath.Abs(filepath.Join(example, filepath.Base(file)))
		if err != nil {
			return "", err
		}
		replace[own] = file
	}
	return writeOverlay(filepath.Join(dir, "headers.json"), replace)
}
