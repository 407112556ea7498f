package process

import (
	"runtime/debug"
	"testing"
)

// A version says as much as the build knows, and nothing twice.
func TestVersionOfAProcess(t *testing.T) {
	t.Parallel()
	const revision = "0123456789abcdef0123456789abcdef01234567"
	for _, tc := range []struct{ main, revision, want string }{
		{"v1.2.3", "", "v1.2.3"}, {"(devel)", revision, "0123456789ab"}, {"v1.2.3", revision, "v1.2.3 0123456789ab"},
		{"v0.0.0-20260101120000-0123456789ab", revision, "v0.0.0-20260101120000-0123456789ab"}, {"(devel)", "", ""}, {"", "", ""},
	} {
		info := debug.BuildInfo{Main: debug.Module{Version: tc.main}}
		if tc.revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: tc.revision}}
		}
		if got := version(&info, true); got != tc.want {
			t.Errorf("%s: got %q", tc.main+" "+tc.revision, got)
		}
	}
	if got := version(nil, false); got != "" {
		t.Errorf("%s: got %q", "no information", got)
	}
}
