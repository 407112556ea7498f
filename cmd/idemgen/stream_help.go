package main

import (
	"fmt"
	"slices"
	"strings"
)

// streamFlags are the flags of all commands of stream, in the order in which help tells them.
var streamFlags = []struct{ name, value, about string }{
	{"database", " URL", "of the service's database; default $DATABASE_URL"},
	{"json", "", "print JSON"},
	{"consumer", " C", "as the spec names it"},
	{"topic", " T", "of Kafka"},
	{"partition", " N", "confirm-partitions may leave it out: all partitions of the topic"},
	{"all", "", "every partition of the topic, also those that work: they are taken over again"},
	{"topic-id", " UUID", "of a topic that was made again: which one; adopt needs it, else it is the last one seen"},
	{"partitions", " COUNT", "of the topic"},
	{"fewer", "", "COUNT is below the ledger's, which was confirmed by mistake"},
	{"from", " OFFSET", "do nothing unless the position is this"},
	{"to", " OFFSET", "of the next record to apply; adopt also takes PARTITION:OFFSET,..."},
	{"apply-again", "", "rewind needs it: you know that records may take effect again"},
	{"older-version-may-run", "", "a newer version ran; you know that an older one may apply again what it applied"},
	{"reason", " TEXT", "why; required for every change, and kept in the ledger"},
	{"operator", " NAME", "who; default $USER, else the database role"},
	{"dry-run", "", "print the row that would be appended"},
}

const (
	streamAbout = `
list shows the ledger of every partition. The others append one row to a ledger, with which a
partition that stands goes on. The service needs no restart: it sees the row with its next
batch, or, if it stands or has no records, within about 5 seconds. The error of a partition that
stands prints the whole command; docs/operations.md says what to check before, and what it does
to the guarantee. Nothing else in the database changes.

`
	streamCodes = "\nExit code 0: done; 2: trouble.\n"
)

// streamHelp returns the text of stream, or of one of its commands, "" if there is none such.
func streamHelp(verb string) string {
	var b strings.Builder
	if verb != "" {
		i := slices.IndexFunc(streamVerbs(), func(v streamVerb) bool { return v.name == verb })
		if i < 0 {
			return ""
		}
		v := streamVerbs()[i]
		fmt.Fprintf(&b, "usage: idemgen stream %s\n\n%s: %s.\n\n", v.usage(), v.name, v.about)
		v.explain(&b)
		return b.String() + streamCodes
	}
	for i, v := range streamVerbs() {
		lead := "       "
		if i == 0 {
			lead = "usage: "
		}
		fmt.Fprintf(&b, "%sidemgen stream %s\n", lead, v.usage())
	}
	b.WriteString(streamAbout)
	for _, v := range streamVerbs() {
		fmt.Fprintf(&b, "  %-24s %s\n", v.name, v.about)
	}
	b.WriteString("\n")
	for _, f := range streamFlags {
		fmt.Fprintf(&b, "  %-24s %s\n", "--"+f.name+f.value, f.about)
	}
	return b.String() + "\nidemgen help stream COMMAND tells of one of them.\n" + streamCodes
}

// usage is the verb with its flags, those that may be left out in brackets, without those
// that say who and why.
func (v *streamVerb) usage() string {
	text := v.name
	for _, f := range streamFlags {
		switch may, must := v.has(f.name); {
		case f.name == "reason", f.name == "operator", f.name == "dry-run":
		case must, may && f.name == "apply-again": // Rewind asks for it itself, and says why
			text += " --" + f.name + f.value
		case may:
			text += " [--" + f.name + f.value + "]"
		}
	}
	return text
}

// explain tells of each flag of the verb.
func (v *streamVerb) explain(b *strings.Builder) {
	for _, f := range streamFlags {
		may, must := v.has(f.name)
		if may || must || f.name == "database" || f.name == "json" {
			fmt.Fprintf(b, "  %-24s %s\n", "--"+f.name+f.value, f.about)
		}
	}
}

// has reports whether the verb takes a flag, and whether the flag must be given.
func (v *streamVerb) has(flag string) (may, must bool) {
	all := strings.Fields(v.flags)
	must = slices.Contains(all, flag+"*")
	return slices.Contains(all, flag), must
}
