package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/proof/quickstart"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// quickStart plays README's quick start in a place.
func (c *check) quickStart(ctx context.Context, place quickstart.Place) (string, error) {
	dir, err := c.folder(strings.ReplaceAll(place.String(), " ", "-"), place)
	if err != nil {
		return "", err
	}
	guide := c.guide.In(place)
	out, err := output(ctx, dir, append(c.proxy.env, c.short()), "sh", "-e", "-c", guide.Script())
	if err != nil {
		return "", err
	}
	if !strings.Contains(out, "\nok  \texample.com/orders") {
		return "", fmt.Errorf("the tests of the service did not run:\n%s", out)
	}
	used, err := output(ctx, dir, c.proxy.env, "go", "list", "-f", "{{.Module.Version}}{{with .Module.Replace}} replaced{{end}}", path+"/runtime/idem")
	if err != nil || used != guide.Version {
		return "", errors.Join(err, fmt.Errorf("the service links version %s", used))
	}
	if _, err := output(ctx, dir, c.proxy.env, "go", "vet", "./..."); err != nil {
		return "", err
	}
	env := c.proxy.env
	if place.Workspace && place.Vendored { // there go doc lists no modules, whatever they are
		env = append(env[:len(env)-1:len(env)-1], env[len(env)-1]+" -mod=readonly")
	}
	if doc, err := output(ctx, dir, env, "go", "doc", path+"/runtime/idem.Consumer"); err != nil || !strings.Contains(doc, "func (c *Consumer) Run(") {
		return "", errors.Join(err, fmt.Errorf("go doc prints\n%s", doc))
	}
	if err := c.installs(ctx, dir, guide); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d commands, go install, go doc, dev", len(guide.Commands)), c.dev(ctx, dir)
}

// folder makes the folder of a module in a place. A workspace has a second module.
func (c *check) folder(name string, place quickstart.Place) (string, error) {
	around := filepath.Join(c.work, name)
	files := map[string]string{}
	if place.Workspace {
		files["go.work"] = "go 1.26.0\n\nuse ./shared\n"
		files["shared/go.mod"] = "module example.com/shared\n\ngo 1.26.0\n"
		files["shared/shared.go"] = "package shared\n"
	}
	for name, text := range files {
		at := filepath.Join(around, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(around, "orders")
	return dir, os.MkdirAll(dir, 0o755)
}

// short is the environment in which go test is short.
func (c *check) short() string {
	return c.proxy.env[len(c.proxy.env)-1] + " -short"
}

// installs plays the line that puts the command on the PATH, as people do it: anywhere.
func (c *check) installs(ctx context.Context, dir string, guide *quickstart.Guide) error {
	if _, err := output(ctx, dir, c.proxy.env, "sh", "-ec", guide.Install); err != nil {
		return err
	}
	says, err := output(ctx, dir, nil, filepath.Join(c.work, "bin", "idemgen"), "version")
	if err != nil || !strings.HasPrefix(says, "idemgen "+guide.Version+", ") {
		return errors.Join(err, fmt.Errorf("what was installed says that it is %s", says))
	}
	return nil
}

// dev plays the command that runs the service, until it has sent all records.
func (c *check) dev(ctx context.Context, dir string) error {
	p, err := stage.Start(ctx, c.proxy.env, "sh", "-c", `cd "$1" && exec `+quickstart.Dev, "sh", dir)
	if err != nil {
		return err
	}
	err = stage.Until(ctx, 3*time.Minute, func() (bool, error) {
		seen := min(p.Log.Count(" records of the tests were sent"), p.Log.Count("outcome=applied"), p.Log.Count("outcome=duplicate"))
		return seen > 0, p.Dead()
	})
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w\n%s", quickstart.Dev, err, p.Log), p.Kill())
	}
	return p.Stop()
}
