package output

import "slices"

// edit is one run of lines that differs: a[a0:a1] is replaced by b[b0:b1].
type edit struct{ a0, a1, b0, b1 int }

// compareLines returns the edits that turn a into b, in order. Lines that occur once in
// both texts are the anchors (a patience diff): it stays fast for long texts, and what
// it prints follows declarations rather than closing braces.
func compareLines(a, b []string) []edit {
	return between(a, b, 0, len(a), 0, len(b), nil)
}

// between appends the edits within a[a0:a1] and b[b0:b1].
func between(a, b []string, a0, a1, b0, b1 int, edits []edit) []edit {
	for a0 < a1 && b0 < b1 && a[a0] == b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && a[a1-1] == b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 && b0 == b1 {
		return edits
	}
	anchors := anchors(a[a0:a1], b[b0:b1])
	if len(anchors) == 0 {
		return append(edits, edit{a0, a1, b0, b1})
	}
	x, y := a0, b0
	for _, m := range anchors {
		edits = between(a, b, x, a0+m.a, y, b0+m.b, edits)
		x, y = a0+m.a+1, b0+m.b+1
	}
	return between(a, b, x, a1, y, b1, edits)
}

// match is a line a[a] equal to b[b].
type match struct{ a, b int }

// anchors returns the longest series of lines that occur once in a, once in b, and in
// the same order in both.
func anchors(a, b []string) []match {
	type count struct{ inA, inB, atB int }
	counts := map[string]*count{}
	for _, line := range a {
		if counts[line] == nil {
			counts[line] = &count{}
		}
		counts[line].inA++
	}
	for i, line := range b {
		if c := counts[line]; c != nil {
			c.inB, c.atB = c.inB+1, i
		}
	}
	var once []match
	for i, line := range a {
		if c := counts[line]; c.inA == 1 && c.inB == 1 {
			once = append(once, match{i, c.atB})
		}
	}
	return longestRise(once)
}

// longestRise returns the longest part of ms, which rise in a, that rises in b as well.
func longestRise(ms []match) []match {
	var tails []int // tails[n] = index of the match with the smallest b that ends a series of n+1
	before := make([]int, len(ms))
	for i, m := range ms {
		n, _ := slices.BinarySearchFunc(tails, m.b, func(t, b int) int { return ms[t].b - b })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		tails = append(tails[:n], append([]int{i}, tails[min(n+1, len(tails)):]...)...)
	}
	if len(tails) == 0 {
		return nil
	}
	var rise []match
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		rise = append(rise, ms[i])
	}
	slices.Reverse(rise)
	return rise
}
