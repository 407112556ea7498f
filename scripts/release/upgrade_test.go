package main

import "testing"

// The version before is the last tag below this commit, as versions are ordered.
func TestTheVersionBefore(t *testing.T) {
	dir := t.TempDir()
	c := &check{proxy: &proxy{repository: dir}}
	git := func(args ...string) {
		t.Helper()
		if _, err := output(t.Context(), dir, nil, append([]string{"git", "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	is := func(from, want string) {
		t.Helper()
		if revision, says, err := c.before(t.Context(), from); err != nil || revision != want {
			t.Errorf("it is %q, want %q (%s, %v)", revision, want, says, err)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	is("", "HEAD")
	is("abc", "abc")
	git("tag", "v0.10.0")
	is("", "HEAD") // it is the one that is checked
	git("commit", "-q", "--allow-empty", "-m", "two")
	git("tag", "v0.9.9", "HEAD~")
	git("tag", "v1.0.0")
	git("tag", "other", "HEAD~")
	is("", "v0.10.0")
}
