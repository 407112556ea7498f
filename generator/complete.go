package generator

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
)

var (
	toolLine = regexp.MustCompile(`(?m)^[ \t]*(tool[ \t]+)?"?github\.com/idemgen/idemgen/cmd/idemgen"?[ \t\r]*(//.*)?$`)
	released = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

// complete returns the commands that make the module of a folder complete: it has idemgen as a
// tool, requires what the code imports, and has copies of that if it is vendored.
func complete(dir string) (commands []string, err error) {
	root, goMod, err := module(dir)
	if err != nil {
		return nil, err
	}
	if !toolLine.Match(goMod) {
		commands = append(commands, "go get -tool github.com/idemgen/idemgen/cmd/idemgen"+ownVersion())
	}
	commands = append(commands, "go mod tidy")
	switch work := workspace(root); {
	case work != "" && vendored(work):
		commands = append(commands, "go work vendor")
	case work == "" && vendored(root):
		commands = append(commands, "go mod vendor")
	}
	return commands, nil
}

// ownVersion is the version of this program, as go get takes it: generated code and the runtime
// are of one version. It is "" if the program was built from no release.
func ownVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == "github.com/idemgen/idemgen" && released.MatchString(info.Main.Version) {
		return "@" + info.Main.Version
	}
	return ""
}

// workspace returns the folder of the go.work that the go command takes for a module; "" for none.
func workspace(root string) string {
	switch work := os.Getenv("GOWORK"); work {
	case "":
	case "off":
		return ""
	default:
		return filepath.Dir(work)
	}
	for ; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.work")); err == nil {
			return root
		}
		if root == filepath.Dir(root) {
			return ""
		}
	}
}

// vendored reports whether a module or a workspace has a vendor folder.
func vendored(root string) bool {
	_, err := os.Stat(filepath.Join(root, "vendor", "modules.txt"))
	return err == nil
}
