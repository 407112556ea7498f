package schema

import (
	"slices"
	"strings"
)

// Closest returns the word that a mistyped text was most likely meant to be, or "" if
// none is near. Of equally near words it is the first in alphabetical order.
func Closest(text string, words []string) string {
	best, bestDistance := "", 0
	for _, w := range slices.Sorted(slices.Values(words)) {
		d := distance(fold(text), fold(w))
		if d > max(1, min(len([]rune(text)), len([]rune(w)))/3) {
			continue
		}
		if best == "" || d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// DidYouMean returns the hint `did you mean "x"?`, or "" if no word is near.
func DidYouMean(text string, words []string) string {
	if w := Closest(text, words); w != "" {
		return `did you mean "` + w + `"?`
	}
	return ""
}

// fold makes spellings equal that people mix up: case, and - or a blank for _.
func fold(s string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(s))
}

// distance is the edit distance with transpositions of neighbours (optimal string
// alignment), in code points.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	prev2 := make([]int, len(t)+1)
	prev := make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range s {
		row := make([]int, len(t)+1)
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
		prev2, prev = prev, row
	}
	return prev[len(t)]
}
