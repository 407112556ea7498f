package connector

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func usual() Connector {
	return Connector{
		Name: "shop", Host: "db", Port: 5432, User: "debezium", Password: "${env:PASSWORD}", Database: "shop", Schema: "public",
		Slot: "idem_outbox", Publication: "idem_outbox", Topic: "outbox.event.${routedByValue}",
	}
}

// What a user says stands where Debezium looks for it.
func TestSettings(t *testing.T) {
	c := usual()
	c.Schema, c.Headers, c.Prefix = "shop.1", []string{"tenant", "traceparent"}, "p"
	text, err := c.JSON(false)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"database.hostname": "db", "database.port": "5432", "database.password": "${env:PASSWORD}", "topic.prefix": "p",
		"table.include.list": `shop\.1\.idem_outbox`,
		"transforms.outbox.table.fields.additional.placement": "type:header,traceparent:header,tracestate:header,tenant:header",
		"transforms.outbox.route.topic.replacement":           "outbox.event.${routedByValue}",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// POST /connectors takes the name, too.
func TestWrapped(t *testing.T) {
	text, err := usual().JSON(true)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name   string
		Config map[string]string
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Name != "shop" || got.Config["topic.prefix"] != "shop" {
		t.Errorf("%v\n%s", err, text)
	}
}

// The page says why each setting is as it is.
func TestEachSettingIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/outbox.md")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := usual().Settings()
	if err != nil {
		t.Fatal(err)
	}
	for name := range settings {
		short := strings.TrimPrefix(strings.TrimPrefix(name, "transforms.outbox."), "value.converter.")
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), "`"+short+"`") {
			t.Errorf("docs/outbox.md has no %s", name)
		}
	}
}

// What Postgres, Debezium or Connect would read as something else is refused, each by its name.
func TestRefused(t *testing.T) {
	for want, wrong := range map[string][]func(*Connector){
		"host, user and database":            {func(c *Connector) { c.Host = "" }, func(c *Connector) { c.User = "" }, func(c *Connector) { c.Database = "" }},
		"want 1 to 65535":                    {func(c *Connector) { c.Port = 0 }, func(c *Connector) { c.Port = 65536 }},
		`slot "`:                             {func(c *Connector) { c.Slot = "Slot" }, func(c *Connector) { c.Slot = strings.Repeat("a", 64) }},
		`publication "`:                      {func(c *Connector) { c.Publication = "" }, func(c *Connector) { c.Publication = "a-b" }},
		`name "a b": want`:                   {func(c *Connector) { c.Name, c.Prefix = "a b", "p" }},
		`name "a/b", or topic`:               {func(c *Connector) { c.Prefix = "a/b" }},
		"want a place":                       {func(c *Connector) { c.Password = "secret" }, func(c *Connector) { c.Password = "" }},
		"schema":                             {func(c *Connector) { c.Schema = "a,b" }, func(c *Connector) { c.Schema = "" }},
		"topic":                              {func(c *Connector) { c.Topic = "events" }},
		`header "a:b"`:                       {func(c *Connector) { c.Headers = []string{"a:b"} }},
		`header ""`:                          {func(c *Connector) { c.Headers = []string{""} }},
		"is already a header of every event": {func(c *Connector) { c.Headers = []string{"id"} }, func(c *Connector) { c.Headers = []string{"tenant", "payload"} }},
		"is given twice":                     {func(c *Connector) { c.Headers = []string{"a", "a"} }, func(c *Connector) { c.Headers = []string{"a", "b", "a"} }},
	} {
		for i, spoil := range wrong {
			c := usual()
			spoil(&c)
			_, err := c.JSON(false)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%d: error %v, want %q alone", i, err, want)
			} else if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the password: %v", err)
			}
		}
	}
	for i, allowed := range []func(*Connector){
		func(c *Connector) { c.Port = 1 }, func(c *Connector) { c.Port = 65535 }, func(c *Connector) { c.Slot = strings.Repeat("a", 63) },
		func(c *Connector) { c.Name, c.Prefix = "Shop.1_a-b", "Shop.2_a-b" }, func(c *Connector) { c.Headers = []string{"a", "b", "tracestate"} },
		func(c *Connector) { c.Topic = "a&b.${routedByValue}" },
	} {
		c := usual()
		allowed(&c)
		if text, err := c.JSON(false); err != nil || !strings.Contains(string(text), c.Topic) {
			t.Errorf("%d: %v\n%s", i, err, text)
		}
	}
}
