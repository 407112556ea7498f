package idemtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// readExpected reads the file of expected rows: per table a line "table NAME" and a line per
// row, or a line "table NAME COUNT"; "dead letters CLASS COUNT" says how many there are,
// "calls EVENT COUNT" how many calls of its effect. Lines that begin with # are comments.
func readExpected(path string) (*state, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &state{classes: map[string]int{}, calls: map[string]int{}}
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	lines.Buffer(nil, len(content)+1)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		name, isTable := strings.CutPrefix(line, "table ")
		class, isClass := strings.CutPrefix(line, "dead letters ")
		event, isCalls := strings.CutPrefix(line, "calls ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isTable:
			t := rows{counted: notCounted}
			if t.table, t.counted, err = named(name, notCounted); err == nil {
				s.tables = append(s.tables, t)
			}
		case isClass:
			err = tally(s.classes, class)
		case isCalls:
			err = tally(s.calls, event)
		case len(s.tables) == 0:
			err = fmt.Errorf("a row without a table")
		default:
			last := &s.tables[len(s.tables)-1]
			last.cells = append(last.cells, splitCells(line))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w: run idemgen generate", path, n, err)
		}
	}
	return s, lines.Err()
}

// splitCells splits "a=1  b="x  y"  c=[1]" into its cells.
func splitCells(line string) (cells []string) {
	for line != "" {
		end := len(line)
		name, value, ok := strings.Cut(line, "=")
		if ok && value != "" && strings.ContainsRune(`"[{`, rune(value[0])) {
			d := json.NewDecoder(strings.NewReader(value))
			var skip json.RawMessage
			if d.Decode(&skip) == nil {
				end = len(name) + 1 + int(d.InputOffset())
			}
		} else if i := strings.Index(line, "  "); i >= 0 {
			end = i
		}
		cells = append(cells, line[:end])
		line = strings.TrimPrefix(line[end:], "  ")
	}
	return cells
}

// named reads "NAME" or "NAME COUNT".
func named(text string, none int) (name string, count int, err error) {
	name, number, counted := strings.Cut(text, " ")
	if !counted {
		return name, none, nil
	}
	count, err = strconv.Atoi(number)
	return name, count, err
}

// tally reads "NAME COUNT" into a map.
func tally(into map[string]int, text string) error {
	name, n, err := named(text, 0)
	into[name] = n
	return err
}
