package generator

import (
	"strings"
	"testing"
	"time"
)

// An event has the name of its type, of a Java class only the last one; it has a number if the
// name is taken.
func TestNamesOfEvents(t *testing.T) {
	for text, want := range map[string]string{
		"order.placed": "OrderPlaced", "com.shop.Added": "Added", "com.shop.Zipped": "Zipped", "com.shop.zipped": "ComShopZipped", "com.shop.": "ComShop",
		"com.shop.[x": "ComShopX", "com.shop.@x": "ComShopX", "ORDER_PAID": "ORDERPAID", "-": "Received", "": "Received", "handler": "Handlerx2",
		strings.Repeat("a", 60): "A" + strings.Repeat("a", 49),
	} {
		if got := eventNames().event(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	n := eventNames()
	for _, want := range []string{"Made", "Madex2", "Madex3"} {
		if got := n.event("made"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Duplicates are recognized for a day more than they were apart, in whole days, and for 8 at
// least.
func TestWindowsInDays(t *testing.T) {
	const day = 24 * time.Hour
	for apart, want := range map[time.Duration]int{
		0: 8, 7 * day: 8, 7*day + 1: 9, 8 * day: 9, 3648 * day: 3649, 3649 * day: 3650, 4000 * day: 3650,
	} {
		if got := windowDays(apart); got != want {
			t.Errorf("%v: %d, want %d", apart, got, want)
		}
	}
}
