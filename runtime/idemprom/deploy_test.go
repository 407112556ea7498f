package idemprom_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"gopkg.in/yaml.v3"

	"github.com/idemgen/idemgen/runtime/idemprom"
	"github.com/idemgen/idemgen/runtime/idemprom/outboxprom"
)

// exported are the labels of each metric.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	descs := make(chan *prometheus.Desc, 100)
	idemprom.New().Describe(descs)
	outboxprom.New(nil).Describe(descs)
	close(descs)
	all := map[string][]string{}
	for d := range descs {
		m := regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([\w,]*)\}`).FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("what is %s", d)
		}
		all[m[1]] = strings.Split(m[2], ",")
	}
	return all
}

var (
	metric  = regexp.MustCompile(`\b(idemgen_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	suffix  = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// checkExpr checks that an expression asks for metrics and labels that there are, and returns the
// metrics.
func checkExpr(t *testing.T, where, expr string, known map[string][]string) (names []string) {
	t.Helper()
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
			t.Errorf("%s: %s are not in pairs: %s", where, pair, expr)
		}
	}
	for _, m := range metric.FindAllStringSubmatch(expr, -1) {
		name := m[1]
		if known[name] == nil {
			name = suffix.ReplaceAllString(name, "")
		}
		if known[name] == nil {
			t.Errorf("%s: there is no metric %s", where, m[1])
		}
		for _, label := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(known[name], label[1]) {
				t.Errorf("%s: %s has no label %s", where, m[1], label[1])
			}
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		t.Errorf("%s asks for no metric: %s", where, expr)
	}
	return names
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// anchors are the names of the headings of a page.
func anchors(page []byte) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(page, -1) {
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(string(m[1])), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// The alerts ask for metrics that there are, say what is wrong, and name a section of
// docs/operations.md.
func TestAlerts(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For string
				Labels           struct{ Severity string }
				Annotations      struct {
					Summary    string
					RunbookURL string `yaml:"runbook_url"`
				}
			}
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(read(t, "../../deploy/alerts.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	known, sections := exported(t), anchors(read(t, "../../docs/operations.md"))
	names := map[string]bool{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			checkExpr(t, r.Alert, r.Expr, known)
			section, is := strings.CutPrefix(r.Annotations.RunbookURL, "https://github.com/idemgen/idemgen/blob/main/docs/operations.md#")
			if !is || !slices.Contains(sections, section) {
				t.Errorf("%s: docs/operations.md has no section of %s", r.Alert, r.Annotations.RunbookURL)
			}
			if r.Annotations.Summary == "" || r.Labels.Severity != "critical" && r.Labels.Severity != "warning" || names[r.Alert] {
				t.Errorf("%s: it lacks a summary, or a severity, or is there twice", r.Alert)
			}
			names[r.Alert] = true
		}
	}
	if len(names) < 10 {
		t.Errorf("%d alerts only", len(names))
	}
}

// panel is a part of a dashboard.
type panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ RefID, Expr, LegendFormat string }
}

func (p panel) overlaps(o panel) bool {
	a, b := p.GridPos, o.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

// The dashboard shows every metric, asks for none that is not there, and has its panels side by
// side.
func TestDashboard(t *testing.T) {
	var d struct {
		Panels     []panel
		Templating struct{ List []struct{ Name string } }
	}
	if err := json.Unmarshal(read(t, "../../deploy/grafana-dashboard.json"), &d); err != nil {
		t.Fatal(err)
	}
	variables := []string{"__rate_interval"}
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	known, shown := exported(t), map[string]bool{}
	for i, p := range d.Panels {
		if p.GridPos.X+p.GridPos.W > 24 || p.Title == "" {
			t.Errorf("panel %d, %q, is too wide, or has no title", p.ID, p.Title)
		}
		for _, o := range d.Panels[:i] {
			if p.ID == o.ID || p.overlaps(o) {
				t.Errorf("panels %q and %q are in one place, or have one id", p.Title, o.Title)
			}
		}
		for _, target := range p.Targets {
			for _, name := range checkExpr(t, p.Title, target.Expr, known) {
				shown[name] = true
			}
			for _, m := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(variables, m[1]) {
					t.Errorf("%s: there is no variable %s", p.Title, m[1])
				}
			}
			for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1) {
				if !regexp.MustCompile(`by \([^)]*\b` + m[1] + `\b`).MatchString(target.Expr) {
					t.Errorf("%s: its legend has %s, and %s does not", p.Title, m[1], target.Expr)
				}
			}
		}
	}
	for name := range known {
		if !shown[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}
