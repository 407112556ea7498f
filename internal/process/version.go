package process

import (
	"runtime/debug"
	"strings"
)

// Version names the program's version, as far as its build information does; "" if it does not.
func Version() string { return version(debug.ReadBuildInfo()) }

func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return ""
	}
	text := info.Main.Version
	if text == "(devel)" {
		text = ""
	}
	for _, s := range info.Settings {
		if s.Key != "vcs.revision" {
			continue
		}
		if short := s.Value[:min(len(s.Value), 12)]; !strings.Contains(text, short) {
			text += " " + short
		}
	}
	return strings.TrimSpace(text)
}
