package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// The chart is well-formed, has a bar for each row, and stays inside of its frame.
func TestDrawing(t *testing.T) {
	bars := []bar{{"a & b", unchecked, figure{value: 0.6, least: 0.5, most: 0.7}}, {"c", checked, figure{value: 2.4, least: 2, most: 2.5}}}
	svg := drawing(bars)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"a &amp; b", ">0.60<", ">2.40<", `class="u"`, `class="o"`, "prefers-color-scheme"} {
		if !strings.Contains(svg, part) {
			t.Errorf("no %q in\n%s", part, svg)
		}
	}
	if strings.Contains(svg, "%!") {
		t.Errorf("a value is missing:\n%s", svg)
	}
}
