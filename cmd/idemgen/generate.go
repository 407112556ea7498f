package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path"

	"github.com/idemgen/idemgen/generator"
)

// generate writes what the specs ask for.
func generate(ctx context.Context, c *call) int {
	result, code := c.load(ctx, "generate")
	if result == nil {
		return code
	}
	defer result.Close()
	if code := c.apply(result); code != done {
		return code
	}
	fmt.Fprint(c.stderr, result.Notes)
	if os.Getenv("GOFILE") != "" { // set by go generate, which has listed the files already
		for _, name := range result.Removed() {
			if path.Ext(name) == ".go" {
				fmt.Fprintf(c.stderr, "removed %s: \"go generate\" may now say that it cannot open it; run it once more\n", name)
			}
		}
	}
	return done
}

// load runs the generator over the specs that the arguments name. A nil result means that
// all is said and code is the exit code.
func (c *call) load(ctx context.Context, verb string) (result *generator.Result, code int) {
	var strict bool
	rest, code, ok := c.parse(verb, func(f *flag.FlagSet) {
		f.BoolVar(&strict, "strict", false, "warnings count as errors")
	})
	if !ok {
		return nil, code
	}
	specs, err := findSpecs(rest)
	if err != nil {
		return nil, c.fail(err)
	}
	result, err = generator.Generate(ctx, specs, strict)
	if result != nil {
		fmt.Fprint(c.stderr, result.Problems)
	}
	if err != nil {
		return nil, c.fail(err)
	}
	if result.Refused {
		result.Close()
		return nil, trouble
	}
	return result, done
}

// apply writes the changes and prints a line per file.
func (c *call) apply(result *generator.Result) int {
	if err := result.Apply(); err != nil {
		return c.fail(err)
	}
	for _, change := range result.Changes {
		fmt.Fprintf(c.stdout, "%s %s\n", change.Op, change.Path)
	}
	return done
}
