package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// scene is a key that is pressed after a while.
type scene struct {
	after time.Duration
	key   rune
}

// scenes are what the picture in README shows.
var scenes = []scene{
	{4 * time.Second, 'd'}, {2 * time.Second, 'k'}, {4 * time.Second, 'f'}, {8 * time.Second, 'c'},
	{2 * time.Second, 'p'}, {2 * time.Second, 's'}, {6 * time.Second, quit},
}

const (
	pace   = 1500 * time.Millisecond // from frame to frame of a film
	rest   = 4 * time.Second         // at its end
	across = 80
	down   = 24
)

// film writes what a run of the show looks like, as a picture that moves.
func film(ctx context.Context, file string) error {
	var frames []page
	err := playShow(ctx, func(s *show) error {
		keys := make(chan rune)
		go func() {
			for _, next := range scenes {
				if stage.Pause(ctx, next.after) == nil {
					keys <- next.key
				}
			}
		}()
		return s.run(ctx, keys, func(now state) {
			if now.clock >= time.Duration(len(frames)+1)*pace {
				frames = append(frames, view(now, across, down))
			}
		})
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(svg(frames)), 0o644)
}

// Of a cell, in pixels, for fonts whose letters are 0.6 as wide as they are high.
const (
	cellWide, cellHigh = 8.4, 18
	margin             = 12
)

// svg draws frames that follow each other, again and again. Who shows no motion sees the last.
func svg(frames []page) string {
	var b, shown strings.Builder
	wide, high := across*cellWide+2*margin, down*cellHigh+2*margin
	all := time.Duration(len(frames))*pace + rest
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / all.Seconds() }
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">
<style>rect{fill:#f6f8fa}text{fill:#1f2328}.c1{fill:#59636e}.c2{fill:#000;font-weight:bold}.c3{fill:#1a7f37;font-weight:bold}.c4{fill:#cf222e;font-weight:bold}.c5{fill:#9a6700}
@media(prefers-color-scheme:dark){rect{fill:#0d1117}text{fill:#c9d1d9}.c1{fill:#8b949e}.c2{fill:#fff}.c3{fill:#3fb950}.c4{fill:#f85149}.c5{fill:#d29922}}
.f,.l{animation:f %.1fs steps(1) infinite}.l{animation-name:l}
@keyframes f{0%%{visibility:visible}%.3f%%,100%%{visibility:hidden}}@keyframes l{0%%{visibility:visible}%.3f%%,100%%{visibility:hidden}}
@media(prefers-reduced-motion){.f,.l{animation:none}}</style>
<rect width="100%%" height="100%%" rx="8"/>
<defs>
`, wide, high, all.Seconds(), share(pace), share(pace+rest))
	known := map[string]int{}
	for i, p := range frames {
		class, seen := "f", "hidden"
		if i == len(frames)-1 {
			class, seen = "l", "visible"
		}
		fmt.Fprintf(&shown, `<g class="%s" visibility="%s" style="animation-delay:%.1fs">`, class, seen, (time.Duration(i)*pace - all).Seconds())
		for y, l := range p {
			drawn := l.svg()
			if drawn == "" {
				continue
			}
			if known[drawn] == 0 {
				known[drawn] = len(known) + 1
				fmt.Fprintf(&b, "<text id=\"t%d\">%s</text>\n", known[drawn], drawn)
			}
			fmt.Fprintf(&shown, `<use href="#t%d" x="%d" y="%d"/>`, known[drawn], margin, margin+y*cellHigh+cellHigh*3/4)
		}
		shown.WriteString("</g>\n")
	}
	return b.String() + "</defs>\n" + shown.String() + "</svg>\n"
}

// columns are the parts of a line between which there is more than one space: each has its place.
var columns = regexp.MustCompile(`\S+(?: \S+)*`)

// svg is the line as parts of a text, each at its place.
func (l line) svg() string {
	var b strings.Builder
	x := 0
	for _, s := range l {
		for _, at := range columns.FindAllStringIndex(s.text, -1) {
			class := ""
			if s.style != plain {
				class = fmt.Sprintf(` class="c%d"`, s.style)
			}
			fmt.Fprintf(&b, `<tspan x="%.4g"%s>`, float64(x+len([]rune(s.text[:at[0]])))*cellWide, class)
			_ = xml.EscapeText(&b, []byte(s.text[at[0]:at[1]])) // a builder takes all
			b.WriteString("</tspan>")
		}
		x += len([]rune(s.text))
	}
	return b.String()
}
