package sqlcode

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Every file of templates/sql that brings the runtime's tables to a further version is one of
// their migrations, in the order of their numbers.
func TestRuntimeTablesAreFoundByVersion(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{"idem_2.sql": "b", "idem_1.sql": "a", "idem_3.sql": "c", "insert.tmpl": "x"} {
		files["sql/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	if got := runtimeTables(files); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %q", got)
	}
}
