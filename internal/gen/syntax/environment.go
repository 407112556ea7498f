package syntax

import (
	"regexp"
	"slices"
	"strings"
)

// environmentKeys are settings that people look for in a spec and that no spec holds.
var environmentKeys = []string{
	"api_key", "auth", "bootstrap_server", "bootstrap_servers", "broker", "brokers", "connection_string",
	"credentials", "database", "database_url", "db", "db_url", "dsn", "env", "environment", "host",
	"hosts", "kafka", "kafka_brokers", "passwd", "password", "port", "postgres", "postgres_url", "sasl",
	"schema_registry", "schema_registry_url", "secret", "secrets", "security_protocol", "ssl", "sslmode", "tls",
	"token", "topic_prefix", "url", "user", "username",
}

const environmentHint = "set it in main.go: the database in the pool of NewConsumer, the brokers in the Source of Run"

func isEnvironment(key string) bool {
	return slices.Contains(environmentKeys, strings.ReplaceAll(fold(key), ".", "_"))
}

// environment reports a key of the environment and hides what stands beside it.
func (w *walker) environment(p Pair) {
	w.ds.Add(p.KeyPos, "E112", quote(p.Key)+" is a setting of the environment, not of the "+w.ds.noun(), environmentHint)
	if p.Value.Kind == ScalarNode && p.Value.Text == "" {
		return
	}
	w.ds.Mask(p.Value.Pos)
}

// variable reports a text that expects something to be filled in. It returns false if
// it does not.
func (w *walker) variable(pos Pos, text string) bool {
	const hint = "write the value itself; set what differs between environments in main.go"
	switch placeholder(text) {
	case aVariable:
		w.ds.Add(pos, "E112", quote(text)+" names an environment variable, which a "+w.ds.noun()+" cannot use", hint)
	case aTemplate:
		w.ds.Add(pos, "E112", quote(text)+" is a template, which a "+w.ds.noun()+" cannot use", hint)
	default:
		return false
	}
	return true
}

const (
	aVariable = "an environment variable"
	aTemplate = "a template"
)

// placeholder says what a text expects to be filled in; "" if nothing.
func placeholder(text string) string {
	switch {
	case strings.Contains(text, "${"):
		return aVariable
	case strings.Contains(text, "{{"):
		return aTemplate
	}
	return ""
}

var environmentLine = regexp.MustCompile(`(?i)([a-z][a-z_.-]*)["']?\s*:\s+(\S)`)

// maskLines hides everything behind environment keys in a file that could not be
// parsed.
func (ds *Diagnostics) maskLines(src source) {
	for i, line := range src.lines {
		text := string(line)
		for from := 0; ; {
			m := environmentLine.FindStringSubmatchIndex(text[from:])
			if m == nil {
				break
			}
			if isEnvironment(text[from:][m[2]:m[3]]) {
				col := len([]rune(text[:from+m[4]]))
				ds.Mask(Pos{Line: i + 1, Col: col + 1, Width: len(line) - col})
				break
			}
			from += m[4]
		}
	}
}
