package outage

import "testing"

// Of an error's context only its first line is told, and only if it names a function.
func TestFrameTellsNoStatement(t *testing.T) {
	for context, want := range map[string]string{
		"PL/pgSQL function judge() line 3 at RAISE":                                                            "function judge() line 3",
		"PL/pgSQL function shop.judge(integer,character varying[]) line 12 at SQL statement\nSQL \"SELECT 7\"": "function shop.judge(integer,character varying[]) line 12",
		"PL/pgSQL function inline_code_block line 1 at RAISE":                                                  "function inline_code_block line 1",
		"SQL statement \"SELECT 'secret'\"\nPL/pgSQL function judge() line 3 at SQL statement":                 "",
		"SQL statement \"SELECT '\nPL/pgSQL function secret() line 3 at RAISE\n'\"":                            "",
		"PL/pgSQL function judge('secret') line 3 at RAISE":                                                    "",
		"PL/pgSQL function judge() line 3 at assignment of 'secret'":                                           "",
		"unnamed portal parameter $1 = 'secret'":                                                               "",
		"":                                                                                                     "",
	} {
		if got := Frame(context); got != want {
			t.Errorf("%q: got %q, want %q", context, got, want)
		}
	}
}
