package browser

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLook takes pictures of pages.
func TestLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip("LOOK is not set")
	}
	b := serve(t, troubled(t), ordersFolder)
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for name, page := range map[string]string{
			"overview": "", "dead": "dead", "halt": "partition?consumer=order-projector&topic=orders.v1&partition=3", "list": "dead?list=1&topic=orders.v1",
			"history": "history?owners=1", "find": "find", "guarantees": "guarantees", "outbox": "outbox", "effects": "effects",
		} {
			for _, w := range []int64{1280, 360} {
				b.width(w)
				b.open(page)
				png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				size := map[int64]string{1280: "wide", 360: "narrow"}[w]
				if err := os.WriteFile(dir+"/"+name+"-"+theme+"-"+size+".png", png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
