package sqlcode_test

// sumCases are steps that keep columns, or add to them.
var sumCases = []stepCase{
	{
		name:  "upsert keeps columns of a row that is there",
		table: "primary_key: [id], columns: {id: integer, v: text, first: text, w: text}", fields: "v: string, first: string", write: "upsert: t1, set: {w: {value: new}}, keep: [first, w]",
		before: "INSERT INTO t1 VALUES (1, 'old', 'a', 'w')",
		params: []any{ints{2, 1, 2, 1, 2}, texts{"a", "b", "c", "d", "e"}, texts{"1", "2", "3", "4", "5"}},
		want:   []string{"(1,d,a,w)", "(2,e,1,new)"},
	},
	{
		name:  "upsert by a key with a constant keeps what the first event of the row says",
		table: "primary_key: [kind, id], columns: {kind: text, id: integer, first: text, v: text}", fields: "first: string, v: string", write: "upsert: t1, set: {kind: {value: order}}, keep: [first]",
		params: []any{ints{1, 2, 1}, texts{"a", "b", "c"}, texts{"x", "y", "z"}}, want: []string{"(order,1,a,z)", "(order,2,b,y)"},
	},
	{
		name:  "upsert by a key of constants keeps what the first event says",
		table: "primary_key: [kind], columns: {kind: text, first: text, n: integer}", fields: "first: string, n: int32", write: "upsert: t1, set: {kind: {value: order}}, if_newer: n, keep: [first]",
		params: []any{texts{"a", "b", "c"}, ints{1, 3, 2}}, want: []string{"(order,a,3)"},
	},
	{
		name:  "upsert keeps what the first event said although the newest wins",
		table: "primary_key: [id], columns: {id: integer, n: integer, first: text array}", fields: "n: int32, first: list(string)", write: "upsert: t1, if_newer: n, keep: [first]",
		params: []any{ints{1, 1, 1}, ints{5, 9, 7}, texts{"{a}", "{b}", "{c,d}"}},
		want:   []string{"(1,9,{a})"},
	},
	{
		name:  "upsert that keeps all changes nothing",
		table: "primary_key: [id], columns: {id: integer, v: text}", fields: "v: string", write: "upsert: t1, keep: [v]",
		before: "INSERT INTO t1 VALUES (1, 'old')", params: []any{ints{1, 2}, texts{"a", "b"}}, want: []string{"(1,old)", "(2,b)"},
	},
	{
		name:  "add adds up what the events of one row add",
		table: "primary_key: [id], columns: {id: integer, v: text, n: bigint, m: \"numeric(5,2)\", k: integer}", fields: "n: int64, m: decimal",
		write:  "add: t1, plus: {n: n, k: {value: -2}}, minus: {m: m}",
		before: "INSERT INTO t1 VALUES (1, 'a', 10, 1.5, 9), (2, 'b', 0, 0, 0), (3, 'c', 1, 1, 1)",
		params: []any{ints{2, 1, 2}, []int64{5, -3, 6}, texts{"0.5", "1", "-0.25"}},
		want:   []string{"(1,a,7,0.50,7)", "(2,b,11,-0.25,-4)", "(3,c,1,1.00,1)"},
	},
	{
		name:  "add to a missing row is refused",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, plus: {n: n}",
		before: "INSERT INTO t1 VALUES (1, 1)", params: []any{ints{1, 2}, []int64{5, 6}}, want: []string{"(1,1)"}, refused: "idem_step_refused",
	},
	{
		name:  "add skips a missing row",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, plus: {n: n}, if_missing: skip",
		before: "INSERT INTO t1 VALUES (1, 1)", params: []any{ints{1, 2}, []int64{5, 6}}, want: []string{"(1,6)"},
	},
	{
		name:   "add makes a missing row of the sum, with what its first event says",
		table:  "primary_key: [g, d], columns: {g: text, d: date, n: bigint, first: text, tags: text array, w: text}",
		fields: "g: string, d: date, first: string, tags: list(string)",
		write:  "add: t1, plus: {n: {value: 1}}, if_missing: insert, set: {w: {value: x}}",
		before: "INSERT INTO t1 VALUES ('a', '2026-01-01', 10, 'old', '{}', 'w')",
		params: []any{texts{"b", "a", "b"}, texts{"2026-01-01", "2026-01-01", "2026-01-01"}, texts{"1", "2", "3"}, texts{"{p}", "{q}", "{r,s}"}},
		want:   []string{"(a,2026-01-01,11,old,{},w)", "(b,2026-01-01,2,1,{p},x)"},
	},
	{
		name:  "add takes from a row whose constraint a new one would break",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, plus: {n: n}, if_missing: insert",
		before: "ALTER TABLE t1 ADD CHECK (n >= 0); INSERT INTO t1 VALUES (1, 5), (2, 5)",
		params: []any{ints{1, 2, 1, 3}, []int64{-2, 5, -3, 7}}, want: []string{"(1,0)", "(2,10)", "(3,7)"},
	},
	{
		name:  "add makes no row that breaks a constraint",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, minus: {n: n}, if_missing: insert",
		before: "ALTER TABLE t1 ADD CHECK (n >= 0); INSERT INTO t1 VALUES (1, 5)",
		params: []any{ints{1, 2}, []int64{1, 1}}, want: []string{"(1,5)"}, refused: "23514",
	},
	{
		name:  "add to one row that constants name",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", write: "add: t1, where: {id: {value: 1}}, plus: {n: {value: 1}}",
		before: "INSERT INTO t1 VALUES (1, 1), (2, 1)", params: []any{ints{1, 1, 1}}, want: []string{"(1,4)", "(2,1)"},
	},
	{
		name:  "add to a missing row that constants name is refused",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", write: "add: t1, where: {id: {value: 1}}, plus: {n: {value: 1}}",
		params: []any{ints{1, 1, 1}}, refused: "idem_step_refused",
	},
	{
		name:  "add makes the one row that constants name",
		table: "primary_key: [id], columns: {id: text, n: bigint, v: text}", fields: "v: string", write: "add: t1, where: {id: {value: all}}, plus: {n: {value: 2}}, if_missing: insert",
		params: []any{texts{"a", "b"}}, want: []string{"(all,4,a)"},
	},
	{
		name:  "add beyond the column's range is refused",
		table: "primary_key: [id], columns: {id: integer, n: integer}", fields: "n: int32", write: "add: t1, plus: {n: n}",
		before: "INSERT INTO t1 VALUES (1, 2000000000)", params: []any{ints{1, 1}, ints{100000000, 100000000}}, want: []string{"(1,2000000000)"}, refused: "22003",
	},
}
