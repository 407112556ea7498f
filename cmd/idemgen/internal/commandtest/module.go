package commandtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Spec is a spec with a table, a topic and two events; most tests change it a little.
const Spec = `version: 1
consumer: order-projector
package: orders

tables:
  orders:
    primary_key: [order_id]
    columns:
      order_id: uuid
      customer_id: text
      total: numeric(12,2)
      status: text

topics:
  orders.v1:
    record_key: {order_id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: Idempotency-Key}, window: 8d}
    event_type: {header: event-type}
    events:
      OrderPlaced:
        type: order.placed
        fields: {order_id: uuid, customer_id: string, total: decimal}
        write:
          - upsert: orders
            set: {status: {value: placed}}
      OrderPaid:
        type: order.paid
        fields: {order_id: uuid}
        write:
          - update: orders
            set: {status: {value: paid}}
`

// Second is a topic to append to Spec.
const Second = `  returns.v1:
    record_key: {order_id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: Idempotency-Key}, window: 8d}
    events:
      OrderReturned:
        fields: {order_id: uuid}
        handle: true
`

// Module makes a module of files in a temporary folder and goes there.
func Module(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	Write(t, "go.mod", "module example.com/orders\n\ngo 1.26.0\n")
	for name, text := range files {
		Write(t, name, text)
	}
}

// Write writes a file, and makes its folder.
func Write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read is the text of a file.
func Read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Edit replaces old, which must be there, by new.
func Edit(t *testing.T, name, old, new string) {
	t.Helper()
	text := Read(t, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", name, old)
	}
	Write(t, name, strings.Replace(text, old, new, 1))
}

// Tree is every file below dir with its content.
func Tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		b.WriteString("== " + rel + "\n" + Read(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// GoCommand makes the module here complete, as the lines that init prints do but with this
// repository in place of a release, and runs the go command on it.
func GoCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	requires := Read(t, filepath.Join(Repository, "go.mod"))
	_, requires, _ = strings.Cut(requires, "\nrequire (")
	Write(t, "go.mod", "module example.com/orders\n\ngo 1.26.0\n\nrequire github.com/idemgen/idemgen v0.0.0\n\n"+
		"replace github.com/idemgen/idemgen => "+Repository+"\n\nrequire ("+requires)
	Write(t, "go.sum", Read(t, filepath.Join(Repository, "go.sum")))
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
