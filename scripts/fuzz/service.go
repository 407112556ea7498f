package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
)

// service is a generated service in a folder of this module, with its tests compiled.
type service struct{ folder string }

// errBroken is a service whose generated tests fail, or whose code does not compile.
var errBroken = errors.New("broken")

// build generates the service of a spec, and compiles its tests.
func build(ctx context.Context, spec string) (*service, error) {
	folder, err := os.MkdirTemp("testdata", "fuzz-")
	if err != nil {
		return nil, err
	}
	s := &service{folder: folder}
	if err := s.generate(spec); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", filepath.Join(folder, "service.test"), "./"+filepath.ToSlash(folder)).CombinedOutput()
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), s.remove())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", errBroken, out), s.remove())
	}
	return s, nil
}

func (s *service) remove() error { return os.RemoveAll(s.folder) }

func (s *service) generate(spec string) error {
	resolved, err := resolve.Service("idemgen.yaml", []byte(spec), nil)
	if err != nil {
		return fmt.Errorf("the spec is refused: %w", err)
	}
	result, err := generator.Generate([]generator.Spec{{
		Path: filepath.ToSlash(filepath.Join(s.folder, generator.SpecFile)), Content: []byte(spec),
	}})
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	path := filepath.Join(s.folder, generator.SpecFile) // which the tests read
	return errors.Join(os.WriteFile(path, []byte(spec), 0o644), result.Apply(), result.Close(), s.stub(resolved))
}

// stub lets the tests do without the service's own code, which nobody writes.
func (s *service) stub(of *model.Service) error {
	path := filepath.Join(s.folder, "idem_setup_test.go")
	setup, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	setup = bytes.ReplaceAll(setup, []byte("return Service{}"), []byte("return struct{ stubHandler }{}"))
	for _, t := range of.Topics {
		for _, e := range t.Events {
			if e.Handle {
				setup = fmt.Appendf(setup, "\nfunc init() { idemtest.ChangesNoRow(%q) }\n", e.GoName)
			}
		}
	}
	return os.WriteFile(path, setup, 0o644)
}

// test runs the generated tests. A seed that is not 0 has them play some of their records in
// another order: what becomes of them is for the oracle to say.
func (s *service) test(ctx context.Context, seed uint64) error {
	cmd := exec.CommandContext(ctx, "./service.test", "-test.timeout=5m", "-test.failfast")
	cmd.Dir = s.folder
	if seed != 0 {
		cmd.Env = append(os.Environ(), fmt.Sprintf("IDEMTEST_SEED=%d", seed))
	}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %s", errBroken, out)
	}
	return nil
}
