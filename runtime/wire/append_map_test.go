package wire

import (
	"fmt"
	"testing"
)

// A map has one text, however many names it has and in whatever order it is walked.
func TestAppendMapWritesNamesInOrder(t *testing.T) {
	small := map[string]int64{"b": 2, "a\"": 1, "": 0}
	for range 20 {
		if got := string(AppendMap([]byte("x"), small, AppendInt)); got != `x{"":0,"a\"":1,"b":2}` {
			t.Fatal(got)
		}
	}
	large, want := map[string]int64{}, "{"
	for i := range 100 {
		large[fmt.Sprintf("n%02d", i)] = int64(i)
		want += fmt.Sprintf(`"n%02d":%d,`, i, i)
	}
	if got := string(AppendMap(nil, large, AppendInt)); got != want[:len(want)-1]+"}" {
		t.Error(got)
	}
	if got := string(AppendMap(nil, map[string]int64{}, AppendInt)); got != "{}" {
		t.Error(got)
	}
}
