package main

import (
	"encoding/json"
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// key is a key at one place of a spec.
type key struct {
	name  string
	place string // of the JSON Schema: definition and properties, with dots
	of    string // what it is a key of
}

func (k key) title() string { return "`" + k.name + "` of " + k.of }

// node is a part of a JSON Schema.
type node struct {
	Ref         string          `json:"$ref"`
	Definitions map[string]node `json:"definitions"`
	Properties  properties      `json:"properties"`
	Additional  entries         `json:"additionalProperties"`
	Items       *node           `json:"items"`
	AnyOf       []node          `json:"anyOf"`
}

// properties are in the order of the file.
type properties []property

type property struct {
	name string
	node node
}

// UnmarshalJSON reads the names in their order, which a map would lose.
func (p *properties) UnmarshalJSON(data []byte) error {
	var names yaml.Node // JSON is YAML
	if err := yaml.Unmarshal(data, &names); err != nil {
		return err
	}
	var nodes map[string]node
	if err := json.Unmarshal(data, &nodes); err != nil {
		return err
	}
	for i := 0; i < len(names.Content[0].Content); i += 2 {
		name := names.Content[0].Content[i].Value
		*p = append(*p, property{name, nodes[name]})
	}
	return nil
}

// entries is the node of further properties; nil if there may be none.
type entries struct{ *node }

func (e *entries) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		return nil
	}
	return json.Unmarshal(data, &e.node)
}

// jsonSchema is the JSON Schema of specs.
type jsonSchema struct{ node }

func readSchema(file string) (s jsonSchema, err error) {
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &s.node)
	}
	return s, err
}

// keys are in the order in which a spec has them. A definition is described once.
func (s jsonSchema) keys() (keys []key) {
	seen := map[string]bool{"part": true} // as source
	var collect func(n node, place string)
	collect = func(n node, place string) {
		if n.Ref != "" {
			if n, place = s.resolved(n, place); seen[place] {
				return
			}
			seen[place] = true
		}
		for _, p := range n.Properties {
			k := key{p.name, place + "." + p.name, owners[place].name}
			if p.name == "description" && place != "" {
				k.of = "whatever has a name"
				if seen[p.name] {
					continue
				}
				seen[p.name] = true
			}
			keys = append(keys, k)
		}
		for _, p := range n.Properties {
			if p.name != "description" {
				collect(p.node, place+"."+p.name)
			}
		}
		for _, below := range n.below() {
			collect(below, place+".*")
		}
		for _, of := range n.AnyOf {
			collect(of, place)
		}
	}
	collect(s.node, "")
	return keys
}

// below are what entries and items are.
func (n node) below() (nodes []node) {
	if n.Additional.node != nil {
		nodes = append(nodes, *n.Additional.node)
	}
	if n.Items != nil {
		nodes = append(nodes, *n.Items)
	}
	return nodes
}

// resolved follows a reference; what is defined is a place of its own.
func (s jsonSchema) resolved(n node, place string) (node, string) {
	if n.Ref == "" {
		return n, place
	}
	name := strings.TrimPrefix(n.Ref, "#/definitions/")
	return s.Definitions[name], name
}
