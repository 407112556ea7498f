package sqlcode_test

// sumCases are steps that keep columns, add to them, append rows, or replace them.
var sumCases = []stepCase{
	{
		name:  "upsert keeps columns of a row that is there",
		table: "primary_key: [id], columns: {id: integer, v: text, first: text, w: text}", fields: "v: string, first: string", write: "upsert: t1, set: {w: {value: new}}, keep: [first, w]",
		before: "INSERT INTO t1 VALUES (1, 'old', 'a', 'w')",
		params: []any{ints{2, 1, 2, 1, 2}, texts{"a", "b", "c", "d", "e"}, texts{"1", "2", "3", "4", "5"}},
		want:   []string{"(1,d,a,w)", "(2,e,1,new)"},
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
		table: "primary_key: [id], columns: {id: integer, v: text, n: bigint, m: \"numeric(5,2)\", k: smallint}", fields: "n: int64, m: decimal",
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
		name:  "add is refused where one sum on the way is below at_least",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, plus: {n: n}, at_least: {n: 0}",
		before: "INSERT INTO t1 VALUES (1, 1), (2, 1)", params: []any{ints{2, 1, 1}, []int64{-1, -2, 2}}, want: []string{"(1,1)", "(2,1)"}, refused: "idem_step_refused",
	},
	{
		name:  "add takes what stays at at_least or above",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, minus: {n: n}, at_least: {n: 0}",
		before: "INSERT INTO t1 VALUES (1, 1), (2, 1)", params: []any{ints{2, 1, 1, 1}, []int64{1, 1, -2, 2}}, want: []string{"(1,0)", "(2,0)"},
	},
	{
		name:  "add with at_least to a missing row is refused",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, plus: {n: n}, at_least: {n: 0}",
		before: "INSERT INTO t1 VALUES (1, 1)", params: []any{ints{2}, []int64{1}}, want: []string{"(1,1)"}, refused: "idem_step_refused",
	},
	{
		name:  "add skips what would be below at_least, and no more",
		table: "primary_key: [id], columns: {id: integer, n: bigint, m: integer}", fields: "n: int64", write: "add: t1, minus: {n: n, m: {value: 1}}, at_least: {n: 0, m: 0}, if_below: skip",
		before: "INSERT INTO t1 VALUES (1, 1, 1), (2, 9, 0), (3, 9, 9)", params: []any{ints{1, 2, 3}, []int64{2, 1, 1}}, want: []string{"(1,1,1)", "(2,9,0)", "(3,8,8)"},
	},
	{
		name:  "add with if_below skip refuses a missing row",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, minus: {n: n}, at_least: {n: 0}, if_below: skip",
		before: "INSERT INTO t1 VALUES (1, 1)", params: []any{ints{1, 2}, []int64{2, 1}}, want: []string{"(1,1)"}, refused: "idem_step_refused",
	},
	{
		name:  "add makes no row that would be below at_least",
		table: "primary_key: [id], columns: {id: integer, n: bigint, m: bigint}", fields: "n: int64, m: int64", write: "add: t1, plus: {n: n, m: m}, at_least: {n: 0, m: 1}, if_below: skip, if_missing: insert",
		before: "INSERT INTO t1 VALUES (1, 1, 5), (2, 1, 5)", params: []any{ints{1, 2, 3, 4, 5}, []int64{-1, -2, 0, -1, 0}, []int64{0, 0, 1, 1, 0}},
		want: []string{"(1,0,5)", "(2,1,5)", "(3,0,1)"},
	},
	{
		name:  "add that makes rows is refused below at_least, also on the way",
		table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, plus: {n: n}, at_least: {n: 0}, if_missing: insert",
		params: []any{ints{1, 2, 2}, []int64{1, -1, 1}}, refused: "idem_step_refused",
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
		table: "primary_key: [id], columns: {id: text, n: bigint, v: text}", fields: "v: string", write: "add: t1, where: {id: {value: all}}, plus: {n: {value: 2}}, at_least: {n: 2}, if_missing: insert",
		params: []any{texts{"a", "b"}}, want: []string{"(all,4,a)"},
	},
	{
		name:  "add beyond the column's range is refused",
		table: "primary_key: [id], columns: {id: integer, n: integer}", fields: "n: int32", write: "add: t1, plus: {n: n}",
		before: "INSERT INTO t1 VALUES (1, 2000000000)", params: []any{ints{1, 1}, ints{100000000, 100000000}}, want: []string{"(1,2000000000)"}, refused: "22003",
	},
	{
		name:  "append numbers the events of each stream behind its last row",
		table: "primary_key: [id, no], columns: {id: integer, no: smallint, v: text}", fields: "v: string", write: "append: t1, stream: [id], position: no",
		before: "INSERT INTO t1 VALUES (1, 1, 'x'), (1, 7, 'y'), (3, 1, 'z')",
		params: []any{ints{2, 1, 2, 1}, texts{"a", "b", "c", "d"}},
		want:   []string{"(1,1,x)", "(1,7,y)", "(1,8,b)", "(1,9,d)", "(2,1,a)", "(2,2,c)", "(3,1,z)"},
	},
	{
		name:  "append takes the positions that it expects",
		table: "primary_key: [id, no], columns: {id: integer, no: bigint, v: text}", fields: "v: string, n: int32", write: "append: t1, stream: [id], position: no, expect: n",
		before: "INSERT INTO t1 VALUES (1, 1, 'x')",
		params: []any{ints{2, 1, 2, 1}, ints{1, 2, 2, 3}, texts{"a", "b", "c", "d"}},
		want:   []string{"(1,1,x)", "(1,2,b)", "(1,3,d)", "(2,1,a)", "(2,2,c)"},
	},
	{
		name:  "append refuses a gap",
		table: "primary_key: [id, no], columns: {id: integer, no: bigint, v: text}", fields: "v: string, n: int32", write: "append: t1, stream: [id], position: no, expect: n",
		before: "INSERT INTO t1 VALUES (1, 1, 'x')",
		params: []any{ints{2, 1}, ints{1, 3}, texts{"a", "b"}}, want: []string{"(1,1,x)"}, refused: "idem_step_refused",
	},
	{
		name:  "append refuses events that come in another order",
		table: "primary_key: [id, no], columns: {id: integer, no: bigint, v: text}", fields: "v: string, n: int32", write: "append: t1, stream: [id], position: no, expect: n",
		params: []any{ints{1, 1}, ints{2, 1}, texts{"a", "b"}}, refused: "idem_step_refused",
	},
	{
		name:  "append refuses a position that is taken",
		table: "primary_key: [id, no], columns: {id: integer, no: bigint, v: text}", fields: "v: string, n: int32", write: "append: t1, stream: [id], position: no, expect: n",
		before: "INSERT INTO t1 VALUES (1, 1, 'x')",
		params: []any{ints{1}, ints{1}, texts{"b"}}, want: []string{"(1,1,x)"}, refused: "idem_step_refused",
	},
	{
		name:  "append to a stream that constants name",
		table: "primary_key: [g, no], columns: {g: citext, no: bigint, v: text}", fields: "v: string, n: int64", write: "append: t1, stream: [g], position: no, expect: n, set: {g: {value: All}}",
		before: "INSERT INTO t1 VALUES ('all', 1, 'x')",
		params: []any{[]int64{2, 3}, texts{"a", "b"}}, want: []string{"(All,2,a)", "(All,3,b)", "(all,1,x)"},
	},
	{
		name:  "replace makes the rows of each parent those of its event",
		table: "primary_key: [id, sku], columns: {id: integer, sku: text, n: integer, seen: {type: boolean, default: false}}", fields: "lines: list(Line)",
		write:  "replace: t1, parent: {id: id}, each: lines, leave: [seen]",
		before: "INSERT INTO t1 VALUES (1, 'a', 1, true), (1, 'b', 1, true), (2, 'a', 1, true), (3, 'a', 1, true)",
		params: []any{ints{1, 1, 1, 2, 4, 4}, []*string{nil, ptr("b"), ptr("c"), nil, nil, ptr("a")}, []*int32{nil, ptr(int32(7)), ptr(int32(8)), nil, nil, ptr(int32(9))}, []bool{false, true, true, false, false, true}},
		want:   []string{"(1,b,7,t)", "(1,c,8,f)", "(3,a,1,t)", "(4,a,9,f)"},
	},
	{
		name:  "replace refuses two elements that are one row",
		table: "primary_key: [id, tag], columns: {id: integer, tag: text}", fields: "tags: list(string)", write: "replace: t1, parent: {id: id}, each: tags, set: {tag: each}",
		before: "INSERT INTO t1 VALUES (1, 'a')",
		params: []any{ints{1, 1, 1}, []*string{nil, ptr("b"), ptr("b")}, []bool{false, true, true}}, want: []string{"(1,a)"}, refused: "21000",
	},
	{
		name:  "replace frees the values of a further unique key first",
		table: "primary_key: [id, tag], unique: [[v]], columns: {id: integer, tag: text, v: text}", fields: "tags: list(string), v: string", write: "replace: t1, parent: {id: id}, each: tags, set: {tag: each, v: v}",
		before: "INSERT INTO t1 VALUES (1, 'a', 'x')",
		params: []any{ints{1, 1}, []*string{nil, ptr("b")}, []*string{nil, ptr("x")}, []bool{false, true}}, want: []string{"(1,b,x)"},
	},
	{
		name:  "replace numbers its rows anew",
		table: "primary_key: [no], columns: {no: {type: bigint, identity: true}, id: integer, tag: text}", fields: "tags: list(string)", write: "replace: t1, parent: {id: id}, each: tags, set: {tag: each}",
		before: "INSERT INTO t1 (id, tag) VALUES (1, 'a'), (2, 'b')",
		params: []any{ints{1, 1, 1}, []*string{nil, ptr("a"), ptr("c")}, []bool{false, true, true}}, want: []string{"(2,2,b)", "(3,1,a)", "(4,1,c)"},
	},
}
