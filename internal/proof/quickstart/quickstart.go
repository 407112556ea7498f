// Package quickstart reads README's quick start as the commands that a person runs, so tests and
// make release-check play what README says and hold no copy of it.
//
// It must not import any other package of this module.
package quickstart

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Dev is the command that runs until it is ended. It is not among [Guide.Commands].
const Dev = "go tool idemgen dev"

// Guide is what README says.
type Guide struct {
	Commands []string // in their order
	Version  string   // that they take
	Install  string   // the command that puts idemgen on the PATH
	clone    string   // the line that takes a clone in place of a release
	work     string   // what a workspace needs after go mod init
	vendor   string   // what a vendored module needs after each change of go.mod
	vendors  string   // the same, in a workspace
}

var (
	takes = regexp.MustCompile(`^go get -tool \S+@(v\S+)$`)
	spans = map[string]*regexp.Regexp{
		"Install": regexp.MustCompile("`(go install [^`]+)`"), "work": regexp.MustCompile("`(go work use [^`]+)`"),
		"vendor": regexp.MustCompile("`(go mod vendor)`"), "vendors": regexp.MustCompile("`(go work vendor)`"),
		"clone": regexp.MustCompile(`(?m)^ *(go mod edit .*-replace=\S+=\.\./idemgen .*)$`),
	}
)

// Parse reads the text of README.
func Parse(readme string) (*Guide, error) {
	_, section, _ := strings.Cut(readme, "\n## Quick start\n")
	section, _, _ = strings.Cut(section, "\n## ")
	g := &Guide{}
	dev := false
	for line := range strings.Lines(section) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		switch {
		case !ok:
		case command == Dev:
			dev = true
		default:
			g.Commands = append(g.Commands, command)
			if m := takes.FindStringSubmatch(command); m != nil {
				g.Version = m[1]
			}
		}
	}
	if len(g.Commands) < 5 || !strings.HasPrefix(g.Commands[0], "go mod init ") || g.Version == "" || !dev {
		return nil, fmt.Errorf("README has no quick start with a module, a version and %s: %q", Dev, g.Commands)
	}
	for name, into := range map[string]*string{"Install": &g.Install, "work": &g.work, "vendor": &g.vendor, "vendors": &g.vendors, "clone": &g.clone} {
		found := spans[name].FindAllStringSubmatch(section, -1)
		if len(found) != 1 {
			return nil, fmt.Errorf("README's quick start has %d commands like %s", len(found), spans[name])
		}
		*into = found[0][1]
	}
	if !strings.HasSuffix(g.Install, "@"+g.Version) || !strings.Contains(g.clone, "@"+g.Version+" ") {
		return nil, fmt.Errorf("README's quick start is not of one version: %q, %q, %q", g.Commands, g.Install, g.clone)
	}
	return g, nil
}

// Cloned is the guide with a clone of idemgen in place of a release.
func (g *Guide) Cloned(clone string) *Guide {
	c := *g
	c.Commands = slices.Clone(g.Commands)
	for i, command := range c.Commands {
		if takes.MatchString(command) {
			c.Commands[i] = strings.Replace(g.clone, "=../idemgen ", "="+clone+" ", 1)
		}
	}
	c.Install = strings.TrimSuffix(g.Install, "@"+g.Version)
	return &c
}

// Place is where the module is.
type Place struct{ Workspace, Vendored bool }

// Places are all of them.
var Places = []Place{{}, {Workspace: true}, {Vendored: true}, {Workspace: true, Vendored: true}}

func (p Place) String() string {
	return map[Place]string{Places[0]: "a module alone", Places[1]: "in a workspace", Places[2]: "vendored", Places[3]: "in a vendored workspace"}[p]
}

// In is the guide with what README adds for a place.
func (g *Guide) In(p Place) *Guide {
	c := *g
	c.Commands = nil
	for _, command := range g.Commands {
		c.Commands = append(c.Commands, command)
		switch {
		case strings.HasPrefix(command, "go mod init ") && p.Workspace:
			c.Commands = append(c.Commands, g.work)
		case !p.Vendored || !strings.HasPrefix(command, "go get ") && !strings.HasSuffix(command, "go mod tidy"):
		case p.Workspace:
			c.Commands = append(c.Commands, g.vendors)
		default:
			c.Commands = append(c.Commands, g.vendor)
		}
	}
	return &c
}

// Script is the commands as a script.
func (g *Guide) Script() string { return strings.Join(g.Commands, "\n") + "\n" }
