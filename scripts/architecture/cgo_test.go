package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	librdkafka = "github.com/confluentinc/confluent-kafka-go/v2/kafka"
	needsNone  = "no C compiler (gcc) in use: cgo is off, and the Kafka client is franz-go, which needs none\n"
)

// withoutCompiler are the variables of a machine that has what the scripts of make need, and
// neither a C compiler nor apt-get.
func withoutCompiler(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bash", "dirname", "env", "go", "grep", "id", "sed", "sort", "uname"} {
		path, err := exec.LookPath(name)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kept := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"PATH", "CC", "CGO_ENABLED", "FAULTS_LIBRARY", "INSTALL", "CI"}, name)
	})
	return slices.Clip(append(kept, "PATH="+dir))
}

// script runs a script of make, and returns both of its outputs, without what the go command says
// of its downloads.
func script(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", args[0]), args[1:]...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	return regexp.MustCompile(`(?m)^go: downloading .*\n`).ReplaceAllString(string(out), ""), err
}

// Without a C compiler a command that can do without runs with franz-go, and says so in one line;
// another one fails and names the command that installs a compiler.
func TestCommandsWithoutACompiler(t *testing.T) {
	alone := withoutCompiler(t)
	for _, tc := range []struct {
		name, want string
		env        []string
	}{
		{"no compiler", needsNone + "franz 0\n", alone},
		{"CC names none", strings.Replace(needsNone, "gcc", "nocc", 1) + "franz 0\n", append(alone, "CC=nocc")},
		{"no apt-get to install one", needsNone + "franz 0\n", append(alone, "INSTALL=1")},
		{"cgo is off", needsNone + "franz 0\n", append(alone, "CC=env", "CGO_ENABLED=0")},
		{"a compiler", "\n", append(alone, "CC=env")},
	} {
		got, err := script(t, tc.env, "cc.sh", "bash", "-c", "echo $FAULTS_LIBRARY $CGO_ENABLED")
		if tc.name == "cgo is off" {
			got = strings.Replace(got, "(env)", "(gcc)", 1)
		}
		if err != nil || got != tc.want {
			t.Errorf("%s: %v\n%swant\n%s", tc.name, err, got, tc.want)
		}
	}
	if got, err := script(t, alone, "cc.sh"); err == nil || !strings.Contains(got, "gcc was not found. Install one:\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

// Without cgo make test tests each package that it can, and ends with a line that names the rest.
func TestWhatIsTestedWithoutCgo(t *testing.T) {
	alone := withoutCompiler(t)
	listed, err := script(t, alone, "tested.sh", module+"/...")
	if err != nil {
		t.Fatalf("%v\n%s", err, listed)
	}
	said, err := script(t, alone, "tested.sh")
	if err != nil || strings.Count(said, "\n") != 1 || !strings.Contains(said, "apt-get install gcc") {
		t.Errorf("%v: it ends with %q", err, said)
	}
	tested := strings.Fields(listed)
	for _, p := range packages(t) {
		is, left := slices.Contains(tested, p.ImportPath), strings.Contains(said, " "+p.name()+" ")
		if is == left {
			t.Errorf("%s: tested %v, named as not tested %v", p.name(), is, left)
		}
	}
	args := append([]string{"list", "-e", "-test", "-f", "{{.ImportPath}} {{.Deps}} {{with .Error}}{{.Err}}{{end}}"}, tested...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = alone
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if name, _, _ := strings.Cut(line, " "); strings.Contains(line, librdkafka) || !strings.HasSuffix(line, "] \n") {
			t.Errorf("%s does not build without cgo", name)
		}
	}
	for _, path := range []string{"cmd/idemgen/quickstart_test.go", "runtime/internal/member/confluent_test.go"} {
		if !strings.Contains(said, " "+path+" ") {
			t.Errorf("%s is not named in %q", path, said)
		}
	}
	for _, p := range []string{"scripts/demo", "scripts/faults", "scripts/faults/service", "scripts/faults/pinger", "scripts/faults/sender"} {
		if !slices.Contains(tested, module+"/"+p) {
			t.Errorf("%s needs cgo: make demo and make faults run it without", p)
		}
	}
	if all, err := script(t, append(alone, "CGO_ENABLED=1"), "tested.sh"); err != nil || all != "" {
		t.Errorf("with cgo: %v, %q", err, all)
	}
}
