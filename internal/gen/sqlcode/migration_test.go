package sqlcode

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Every file of templates/sql that brings a part of the runtime's tables to a further version is
// one of its migrations, in the order of their numbers.
func TestRuntimePartsAreFoundByVersion(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{"idem_core_2.sql": "b", "idem_core_1.sql": "a", "idem_core_3.sql": "c", "idem_keys_1.sql": "k", "insert.tmpl": "x"} {
		files["sql/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	got := runtimeParts(files)
	if len(got) != 3 || !slices.Equal(got[0].Migrations, []string{"a", "b", "c"}) || !slices.Equal(got[1].Migrations, []string{"k"}) || got[2].Migrations != nil {
		t.Errorf("got %q", got)
	}
}
