package franz

import "testing"

// A poll takes many records, but no more bytes than a usual fetch, whatever the client holds.
func TestPollTakesNoMoreThanAUsualFetch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held, bytes int64
		want        int
	}{
		{held: 0, bytes: 0, want: 1}, // what arrives next may be large
		{held: 400, bytes: fetchBytes, want: mostRecords},
		{held: 400, bytes: 16 * fetchBytes, want: 25},
		{held: 400, bytes: 400 * fetchBytes, want: 1},
		{held: 400, bytes: 4000 * fetchBytes, want: 1},
	} {
		if got := chunk(c.held, c.bytes); got != c.want {
			t.Errorf("%d records are polled of %d with %d bytes, want %d", got, c.held, c.bytes, c.want)
		}
	}
}
