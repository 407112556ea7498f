// Package connector makes the configuration of Debezium's connector for Postgres that sends the
// events of the table idem_outbox, so that a record is as the relay of package outbox sends it.
// docs/outbox.md says why each setting is as it is.
//
// It must not import any other package of this module.
package connector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Connector is what differs from one connector to the next.
type Connector struct {
	Name        string
	Host        string
	Port        int
	User        string
	Password    string // a place of Connect's, such as ${env:NAME}, and never the password
	Database    string
	Schema      string // of the table
	Slot        string
	Publication string
	Prefix      string   // names the topic of heartbeats; "" is Name
	Topic       string   // with ${routedByValue} for the aggregate type
	Headers     []string // columns of the table that are headers, beside type and the trace context
}

var (
	slotName = regexp.MustCompile(`^[a-z0-9_]{1,63}$`)
	prefix   = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	place    = regexp.MustCompile(`^\$\{[^{}:]+:[^{}]+\}$`)
	own      = []string{"seq", "id", "aggregatetype", "aggregateid", "type", "payload"}
)

// check refuses what Postgres, Debezium or Connect would read as something else.
func (c Connector) check() error {
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(c.Host == "" || c.User == "" || c.Database == "", "host, user and database cannot be empty")
	refuse(c.Port < 1 || c.Port > 65535, "port %d: want 1 to 65535", c.Port)
	refuse(!slotName.MatchString(c.Slot), "slot %q: want lowercase letters, digits and _, 63 at most", c.Slot)
	refuse(!slotName.MatchString(c.Publication), "publication %q: want lowercase letters, digits and _, 63 at most", c.Publication)
	refuse(!prefix.MatchString(c.prefix()), "name %q, or topic prefix: want letters, digits, dots, _ and -", c.prefix())
	refuse(!prefix.MatchString(c.Name), "name %q: want letters, digits, dots, _ and -", c.Name)
	refuse(!place.MatchString(c.Password), "the password must not be in the configuration: want a place where Connect finds it, such as ${env:NAME}")
	refuse(c.Schema == "" || strings.Contains(c.Schema, ","), "schema %q: it is empty, or has a comma", c.Schema)
	refuse(!strings.Contains(c.Topic, "${routedByValue}"), "topic %q: it must contain ${routedByValue}, the aggregate type", c.Topic)
	for i, name := range c.Headers {
		refuse(name == "" || strings.ContainsAny(name, ":, "), "header %q: want the name of a column, without colon, comma and space", name)
		refuse(slices.Contains(own, name), "header %q is already a header of every event", name)
		refuse(slices.Contains(c.Headers[:i], name), "header %q is given twice", name)
	}
	return errors.Join(errs...)
}

func (c Connector) prefix() string {
	if c.Prefix != "" {
		return c.Prefix
	}
	return c.Name
}

// placement is which columns become headers.
func (c Connector) placement() string {
	columns := []string{"type", "traceparent", "tracestate"}
	for _, name := range c.Headers {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	return strings.Join(columns, ":header,") + ":header"
}

// Settings are the connector's, by their names.
func (c Connector) Settings() (map[string]string, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	all := maps.Clone(always)
	maps.Copy(all, map[string]string{
		"database.hostname":  c.Host,
		"database.port":      strconv.Itoa(c.Port),
		"database.user":      c.User,
		"database.password":  c.Password,
		"database.dbname":    c.Database,
		"table.include.list": regexp.QuoteMeta(c.Schema) + `\.idem_outbox`,
		"slot.name":          c.Slot,
		"publication.name":   c.Publication,
		"topic.prefix":       c.prefix(),

		"transforms.outbox.route.topic.replacement":           c.Topic,
		"transforms.outbox.table.fields.additional.placement": c.placement(),
	})
	return all, nil
}

// JSON is the configuration as Connect's REST interface takes it: the settings alone, for
// PUT /connectors/NAME/config, or with the connector's name around them, for POST /connectors.
func (c Connector) JSON(wrapped bool) ([]byte, error) {
	settings, err := c.Settings()
	if err != nil {
		return nil, err
	}
	var body any = settings
	if wrapped {
		body = struct {
			Name   string            `json:"name"`
			Config map[string]string `json:"config"`
		}{c.Name, settings}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(body)
	return out.Bytes(), err
}
