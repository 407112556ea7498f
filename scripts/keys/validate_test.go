package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// flawOf says what a schema finds wrong with a value; "" if nothing. It knows the words that the
// schemas of this repository use, and fails for any other.
func flawOf(root, s map[string]any, v any, at string) string {
	for _, word := range slices.Sorted(maps.Keys(s)) {
		if flaw := flaw(root, s, word, v, at); flaw != "" {
			return flaw
		}
	}
	return ""
}

func flaw(root, s map[string]any, word string, v any, at string) string {
	is, _ := v.(map[string]any)
	items, _ := v.([]any)
	size := float64(len(is) + len(items))
	bad := func(format string, args ...any) string { return at + ": " + fmt.Sprintf(format, args...) }
	switch rule := s[word]; word {
	case "$schema", "$id", "title", "description", "definitions":
	case "$ref":
		name := strings.TrimPrefix(rule.(string), "#/definitions/")
		return flawOf(root, root["definitions"].(map[string]any)[name].(map[string]any), v, at)
	case "anyOf", "oneOf":
		var flaws []string
		for _, form := range rule.([]any) {
			if flaw := flawOf(root, form.(map[string]any), v, at); flaw != "" {
				flaws = append(flaws, flaw)
			}
		}
		if fit := len(rule.([]any)) - len(flaws); fit == 0 || word == "oneOf" && fit > 1 {
			return bad("%d fit of %s: %q", fit, word, flaws)
		}
	case "enum":
		if !slices.ContainsFunc(rule.([]any), func(one any) bool { return fmt.Sprint(one) == fmt.Sprint(v) }) {
			return bad("%v is none of %v", v, rule)
		}
	case "type":
		types, several := rule.([]any)
		if !several {
			types = []any{rule}
		}
		if !slices.Contains(types, any(typeOf(v))) && !(typeOf(v) == "integer" && slices.Contains(types, any("number"))) {
			return bad("a %s is none of %v", typeOf(v), types)
		}
	case "pattern":
		if text, ok := v.(string); ok && !regexp.MustCompile(rule.(string)).MatchString(text) {
			return bad("%q does not match %s", text, rule)
		}
	case "minimum", "maximum":
		if n, ok := v.(int); ok && (float64(n) < rule.(float64)) == (word == "minimum") && float64(n) != rule.(float64) {
			return bad("%d is beyond %v", n, rule)
		}
	case "minItems", "minProperties":
		if size < rule.(float64) && v != nil {
			return bad("too few")
		}
	case "maxProperties":
		if size > rule.(float64) {
			return bad("too many")
		}
	case "required":
		for _, key := range rule.([]any) {
			if _, there := is[key.(string)]; !there {
				return bad("lacks %v", key)
			}
		}
	case "propertyNames":
		for key := range is {
			if flaw := flawOf(root, rule.(map[string]any), key, at); flaw != "" {
				return flaw
			}
		}
	case "properties":
		for key, of := range rule.(map[string]any) {
			if below, there := is[key]; there {
				if flaw := flawOf(root, of.(map[string]any), below, at+"."+key); flaw != "" {
					return flaw
				}
			}
		}
	case "additionalProperties":
		known, _ := s["properties"].(map[string]any)
		for key, below := range is {
			if known[key] != nil {
				continue
			}
			of, open := rule.(map[string]any)
			if !open {
				return bad("unknown key %s", key)
			}
			if flaw := flawOf(root, of, below, at+"."+key); flaw != "" {
				return flaw
			}
		}
	case "items":
		for _, item := range items {
			if flaw := flawOf(root, rule.(map[string]any), item, at+"[]"); flaw != "" {
				return flaw
			}
		}
	default:
		return bad("this validator does not know %s", word)
	}
	return ""
}

// typeOf is the type of a value in JSON.
func typeOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string, time.Time: // a time is a text to editors
		return "string"
	case bool:
		return "boolean"
	case int, int64, uint64:
		return "integer"
	case float64:
		return "number"
	case nil:
		return "null"
	}
	return fmt.Sprintf("%T", v)
}
