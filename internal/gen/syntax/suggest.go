package syntax

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Closest returns the word that a mistyped text was most likely meant to be, or "" if
// none is near. Of equally near words it is the first in alphabetical order. Among very many
// words none is looked for: a file may hold many mistakes, too.
func Closest(text string, words []string) string {
	if len(words) > maxCandidates {
		return ""
	}
	folded := fold(text)
	size := utf8.RuneCountInString(folded)
	best, bestDistance := "", 0
	for _, w := range words {
		other := utf8.RuneCountInString(w)
		most := max(1, min(size, other)/3)
		if size-other > most || other-size > most {
			continue
		}
		d := distance(folded, fold(w))
		if d <= most && (best == "" || d < bestDistance || d == bestDistance && w < best) {
			best, bestDistance = w, d
		}
	}
	return best
}

const maxCandidates = 300

// DidYouMean returns the hint `did you mean "x"?`, or "" if no word is near.
func DidYouMean(text string, words []string) string {
	if w := Closest(text, words); w != "" {
		return `did you mean "` + w + `"?`
	}
	return ""
}

// Choices returns the hint for a name that is not known: the one that was probably meant, or those
// that there are, unless they are many.
func Choices(text, what string, names []string) string {
	if near := DidYouMean(text, names); near != "" || len(names) == 0 || len(names) > maxChoices {
		return near
	}
	return what + " here: " + strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

const maxChoices = 12

// Unknown returns the error for a name that is not among names, with the hint of [Choices]. in is
// what has the names, and what is one of them.
func Unknown(in, what, name string, names []string) error {
	text := fmt.Sprintf("%s has no %s %q", in, what, name)
	if hint := Choices(name, what+"s", names); hint != "" {
		text += "; " + hint
	}
	return errors.New(text)
}

// meant is the word of a set that a text most likely was meant to be, or "".
func meant(text string, set []string) string {
	if word := otherWords[strings.ReplaceAll(fold(text), "_", "")]; slices.Contains(set, word) {
		return word
	}
	return Closest(text, set)
}

// fold makes spellings equal that people mix up: case, and - or a blank for _.
func fold(s string) string { return underscores.Replace(strings.ToLower(s)) }

var underscores = strings.NewReplacer("-", "_", " ", "_")

// distance is the edit distance with transpositions of neighbours (optimal string
// alignment), in code points.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	var small [3][64]int // names are short, and there may be many
	prev2, prev, row := small[0][:], small[1][:], small[2][:]
	if len(t) >= len(small[0]) {
		prev2, prev, row = make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	}
	for j := range prev {
		prev[j] = j
	}
	for i := range s {
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, prev[j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], prev2[j-1]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(t)]
}
