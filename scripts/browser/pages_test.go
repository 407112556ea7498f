package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// pages are all pages, with something to show.
var pages = map[string]string{
	"overview": "", "partition": "partition?consumer=order-projector&topic=orders.v1&partition=3",
	"act":  "act?consumer=order-projector&topic=orders.v1&partition=3&way=idemgen+stream+release+--consumer+order-projector+--topic+orders.v1+--partition+3+--reason+database",
	"dead": "dead", "letters": "dead?list=1&topic=orders.v1", "letter": "letter?consumer=order-projector&topic=orders.v1&partition=1&offset=40001",
	"record": "record?consumer=order-projector&topic=orders.v1&partition=1&offset=40001", "ask": "ask?verb=replay&topic=orders.v1&through=4102444800000000.1.1.1",
	"find": "find?topic=orders.v1&at=1:40001", "history": "history?owners=1", "effects": "effects", "outbox": "outbox", "guarantees": "guarantees",
}

// Every page can be used by everyone: axe finds nothing serious, in both themes, and on a phone
// nothing is wider than the screen, and no cell of a table covers another.
func TestPagesCanBeUsedByEveryone(t *testing.T) {
	script := axe(t)
	b := serve(t, troubled(t), ordersFolder)
	for name, page := range pages {
		for _, theme := range []string{"light", "dark"} {
			b.theme(theme)
			b.width(1280)
			b.open(page)
			found := evaluate[[]string](b, script+`; axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 200)).join(" | ")))`)
			for _, f := range found {
				t.Errorf("%s, %s: %s", name, theme, f)
			}
			if text := b.text(); strings.Contains(text, "Not possible") {
				t.Errorf("%s: %s", name, text)
			}
		}
		for _, width := range []int{500, 360} {
			b.width(int64(width))
			b.open(page)
			if w := evaluate[int](b, `document.scrollingElement.scrollWidth`); w > width {
				t.Errorf("%s is %d pixels wide on a screen of %d", name, w, width)
			}
			for _, cell := range evaluate[[]string](b, `[...document.querySelectorAll("td")].filter(c => c.scrollHeight > c.clientHeight + 1).map(c => c.innerText)`) {
				t.Errorf("%s: on a screen of %d, a cell covers another: %q", name, width, cell)
			}
		}
	}
	if messages := b.complaints(); len(messages) > 0 {
		t.Errorf("the browser complains: %q", messages)
	}
}

// Without JavaScript, everything can be read and done.
func TestPagesWorkWithoutScripts(t *testing.T) {
	b := serve(t, troubled(t), ordersFolder)
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open("")
	b.click("Release")
	b.shows("Ways out")
	b.click("Preview")
	b.shows("What is appended to the ledger")
	b.fill("reason", "the migration is applied")
	b.click("Confirm")
	b.shows("Done: orders.v1/3: the partition retries")
	b.open("history")
	b.shows("the migration is applied")
}

// With the keyboard alone, an operator gets from the overview to a group, and asks for its replay.
func TestPagesWorkWithTheKeyboard(t *testing.T) {
	b := serve(t, troubled(t), ordersFolder)
	b.open("")
	b.tabTo("Skip to the content")
	b.press("\r")
	b.tabTo("order # does not exist")
	b.press("\r")
	b.shows("Grouped by error")
	b.tabTo("Replay 38")
	b.press("\r")
	b.shows("Replay 38 dead letters?")
	b.tabTo("reason")
	b.press("the order is there now")
	b.press("\r")
	b.shows("pending: the owner of the partition has not carried it out yet")
	b.shows("ana: the order is there now")
}

// The pictures of docs/console are those of the overview: -update writes them again.
func TestPictures(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "console")
	file := func(theme string) string { return filepath.Join(dir, "overview-"+theme+".png") }
	if !*update {
		for _, theme := range []string{"light", "dark"} {
			if _, err := os.Stat(file(theme)); err != nil {
				t.Error(err)
			}
		}
		return
	}
	b := serve(t, troubled(t), ordersFolder)
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		b.width(1000)
		b.open(pages["overview"])
		picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err == nil {
			err = os.WriteFile(file(theme), picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
