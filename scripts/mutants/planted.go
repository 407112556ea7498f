package main

// planted are the bugs. Numbers are those of docs/design.md, "Planted bugs"; the others
// are bugs that earlier trials of generated code showed.
var planted = []mutant{
	{"1 the append's predecessor is not checked", []edit{{
		"runtime/statements.go", "SELECT $1::int, $2::bigint + 1, $4::uuid, p.next, $6", "SELECT $1::int, $2::bigint + 1, $4::uuid, $5::bigint, $6",
	}, {"runtime/statements.go", "coalesce($9::int, p.def), coalesce($10::int, p.parts)", "coalesce($9::int, p.def, 1), coalesce($10::int, p.parts, 1)"},
		{"runtime/statements.go", "greatest(p.window_seq, $11::bigint)", "greatest(p.window_seq, $11::bigint, 0)"}}, ledgerTests},
	{"2 the predecessor's token is not compared", []edit{{
		"runtime/statements.go", "AND p.token = $3::uuid", "AND $3::uuid IS NOT NULL",
	}}, ledgerTests},
	{"3 one token for all attempts of an owner", []edit{{
		"runtime/send.go", "a := attempt{token: newToken(),", "a := attempt{token: UUID{byte(o.tail.seq), 1},",
	}}, ledgerTests},
	{"4 own token found: advance to the latest attempt's end", []edit{{
		"runtime/resolve.go", "o.settle(o.attempts[i])", "o.settle(o.attempts[len(o.attempts)-1])",
	}}, ledgerTests},
	{"7 the append ignores a conflict", []edit{{
		"runtime/statements.go", "AND p.token = $3::uuid AND p.next = $5::bigint`", "AND p.token = $3::uuid AND p.next = $5::bigint\nON CONFLICT DO NOTHING`",
	}}, ledgerTests},
	{"8 the append is sent last", []edit{{
		"runtime/send.go", "	p.add(head...)\n	_, err := p.run()\n	return err\n}\n\n// sendExplicit", "	p.add(head[1:]...)\n	p.add(head[0])\n	_, err := p.run()\n	return err\n}\n\n// sendExplicit",
	}}, ledgerTests},
	{"9 the writes are sent in a transaction of their own", []edit{{
		"runtime/send.go", "	for _, s := range w.steps {\n		head = append(head, o.writeStatement(s))\n	}\n",
		"	early := newPipeline(ctx, conn.Conn())\n	for _, s := range w.steps {\n		early.add(o.writeStatement(s))\n	}\n	if _, err := early.run(); err != nil {\n		return err\n	}\n",
	}}, ledgerTests},
	{"10 replies of single statements are taken as acknowledgement", []edit{{
		"runtime/send.go", "			tag = t.String()\n", "			tag, synced = t.String(), true\n",
	}, {"runtime/send.go", "if closeErr := p.p.Close(); err == nil {", "if closeErr := p.p.Close(); err == nil && closeErr == nil {"}}, ledgerTests},
	{"11 keys enter memory when they are sent", []edit{{
		"runtime/wire/batch.go", "	clear(b.mine)\n", "",
	}, {"runtime/wire/batch.go", "b.claims[:0], b.args[:0]", "b.claims, b.args[:0]"}}, ledgerTests},
	{"28 a dead letter claims its key", []edit{{
		"runtime/transact.go", "			w.bury(l)\n			continue\n", "			w.bury(l)\n			claim := *m\n			claim.Value = []byte(\"skip 0\")\n			_, _ = o.batch.Add(&claim, false)\n			continue\n",
	}}, ledgerTests},
	{"29 dead letters are written in a transaction of their own", []edit{{
		"runtime/send.go", "	head = append(head, o.letterStatements(w.letters)...)\n	p := newPipeline", "	early := newPipeline(ctx, conn.Conn())\n	early.add(o.letterStatements(w.letters)...)\n	if _, err := early.run(); err != nil {\n		return err\n	}\n	p := newPipeline",
	}}, ledgerTests},
	{"35 fingerprints are not compared", []edit{{
		"runtime/wire/batch.go", "case known.Print != print && known.Def == b.def:", "case known.Print != print && known.Def == b.def && false:",
	}}, ledgerTests},
	{"36 keys are claimed unsorted", []edit{{
		"runtime/keys.go", "return bytes.Compare(a.Key[:], b.Key[:])", "return 0 * bytes.Compare(a.Key[:], b.Key[:])",
	}}, ledgerTests},
	{"39 a user table's unique violation is taken for the ledger's", []edit{{
		"runtime/classify.go", "	if c, own := protocolClass(pg); own {", "	if pg.Code == \"23505\" {\n		return classSuccessor\n	}\n	if c, own := protocolClass(pg); own {",
	}}, ledgerTests},
	{"47 genesis is not tied to making the stream row", []edit{{
		"runtime/statements.go", "VALUES ($1, $2, $3, $4) RETURNING stream)", "VALUES ($1, $2, $3, $4) ON CONFLICT (consumer, topic, topic_id, partition) DO UPDATE SET partition = excluded.partition RETURNING stream)",
	}}, ledgerTests},
	{"51 COMMIT's tag and the transaction's state are not checked", []edit{{
		"runtime/send.go", "if err == nil && tag != commitSQL {", "if err == nil && tag == \"\" {",
	}, {"runtime/call.go", "	case 'T':\n		if err != nil {", "	case 'T', 'E':\n		if err != nil {"},
		{"runtime/call.go", "	case 'E': //", "	case 'x': //"}}, ledgerTests},

	{"a key claim is always fresh", []edit{{
		"runtime/wire/batch.go", "	case !dup:\n", "	case !dup || dup:\n",
	}}, ordersTests},
	{"a conflict in the ledger counts as success", []edit{{
		"runtime/send.go", "		return o.resolve(ctx, conn)\n	case classGone:", "		return o.settle(a), nil\n	case classGone:",
	}}, ledgerTests},
	{"no flush before a handler", []edit{{
		"runtime/wire/batch.go", "	b.cut()\n	b.calls = true\n", "	b.calls = true\n",
	}}, ordersTests},
	{"keys are not stored", []edit{{
		"runtime/send.go", "if len(w.claims) > 0 {", "if len(w.claims) > 1<<30 {",
	}}, ordersTests},
	{"redelivered records are not passed over", []edit{{
		"runtime/owner.go", "for len(records) > 0 && records[0].Offset < o.tail.next {", "for len(records) > 1<<30 && records[0].Offset < o.tail.next {",
	}}, ledgerTests},
	{"an own commit is taken for another owner's", []edit{{
		"runtime/resolve.go", "return a.token == token", "return a.token == token && false",
	}}, ordersTests},
	{"rows of a wave are not told apart", []edit{{
		"runtime/wire/wave.go", "t.whole || a.put || a.deleted || a.other(w.event) {", "t.whole && a.put && a.deleted && a.other(w.event) {",
	}}, ordersTests},
	{"children do not wait for a deleted parent", []edit{{
		"runtime/wire/wave.go", "a.deleted || t.whole && t.deleted {", "a.deleted && t.whole && t.deleted {",
	}}, waveTests},
	{"a guard lets older values win", []edit{{
		telemetryCode, "\nWHERE t.seq < excluded.seq`", "`",
	}}, telemetryTests},
	{"the oldest of a batch wins instead of the newest", []edit{{
		telemetryCode, "ORDER BY device_id, seq DESC, n", "ORDER BY device_id, seq, n",
	}}, telemetryTests},
	{"of equal versions the last wins instead of the first", []edit{{
		telemetryCode, "ORDER BY device_id, seq DESC, n", "ORDER BY device_id, seq DESC, n DESC",
	}}, telemetryTests},
	{"positions of elements count from 0", []edit{{
		ordersCode, "r.Int4(int32(i + 1))", "r.Int4(int32(i))",
	}}, ordersTests},
	{"a delete leaves rows", []edit{{
		ordersCode, "DELETE FROM order_items AS t\nUSING e\nWHERE t.order_id = e.order_id`", "DELETE FROM order_items AS t\nUSING e\nWHERE t.order_id = e.order_id AND t.line > 1`",
	}}, ordersTests},
}

const (
	ordersCode    = "examples/orders/idem_orders_v1_gen.go"
	telemetryCode = "examples/telemetry/idem_telemetry_v1_gen.go"

	ledgerTests    = "./runtime"
	waveTests      = "./runtime/wire"
	ordersTests    = "./examples/orders"
	telemetryTests = "./examples/telemetry"
)
