package main

import (
	"fmt"
	"html"
	"strings"
)

// bar is a row in the chart: what is measured, and beside what.
type bar struct {
	ours, theirs string
	figure       figure
}

// The handwritten programs of most rows.
const (
	unchecked = "no duplicate check"
	checked   = "table of keys"
)

// drawn adds a row to the chart.
func (r row) drawn(ours, theirs string) row {
	r.chart = &bar{ours: ours, theirs: theirs}
	return r
}

// The chart's measures, in pixels.
const (
	chartWidth, chartLeft, chartRight = 760, 430, 60
	barHeight, barGap, chartTop       = 16, 10, 44
)

// chartMost is the ratio at the right end: longer bars end there, and their figure says the rest.
const chartMost = 2

// drawing is an SVG of ratios of speeds: a bar for each, a line at 1, and how far its rounds were
// apart. Its colors follow the reader's theme.
func drawing(bars []bar) string {
	x := func(ratio float64) float64 {
		return chartLeft + min(ratio, chartMost)/chartMost*(chartWidth-chartLeft-chartRight)
	}
	height := chartTop + len(bars)*(barHeight+barGap) + 8
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui,-apple-system,Segoe UI,sans-serif" font-size="12" role="img">
<title>Throughput of idemgen as a ratio to a handwritten program</title>
<style>.b{fill:#fff}.t{fill:#1f2328}.g{fill:#59636e}.o{fill:#2da44e}.u{fill:#bf8700}.l{stroke:#59636e;stroke-dasharray:3 3}.w{stroke:#1f2328;stroke-width:1.5}
@media(prefers-color-scheme:dark){.b{fill:#0d1117}.t{fill:#e6edf3}.g{fill:#9198a1}.o{fill:#3fb950}.u{fill:#d29922}.l{stroke:#9198a1}.w{stroke:#e6edf3}}</style>
<rect class="b" width="100%%" height="100%%"/>
<text class="t" x="8" y="18" font-weight="600">Throughput beside a handwritten program</text>
<text class="g" x="%.0f" y="18" text-anchor="middle">1 = handwritten</text>
<line class="l" x1="%.1f" x2="%.1f" y1="24" y2="%d"/>
`, chartWidth, height, chartWidth, height, x(1), x(1), x(1), height-4)
	for i, b := range bars {
		y := chartTop + i*(barHeight+barGap)
		class := "o"
		if b.figure.value < 0.95 {
			class = "u"
		}
		fmt.Fprintf(&s, `<text x="8" y="%d"><tspan class="t">%s</tspan><tspan class="g"> / %s</tspan></text>
<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>
<line class="w" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>
<text class="t" x="%.1f" y="%d">%.2f</text>
`, y+12, html.EscapeString(b.ours), html.EscapeString(b.theirs), class, chartLeft, y, x(b.figure.value)-chartLeft, barHeight,
			x(b.figure.least), x(b.figure.most), y+barHeight/2, y+barHeight/2,
			x(max(b.figure.value, b.figure.most))+6, y+12, b.figure.value)
	}
	s.WriteString("</svg>\n")
	return s.String()
}
