package main

// keyBugs are bugs of the keys that all partitions share, and of the upkeep of the tables.
var keyBugs = []mutant{
	{"11 shared: own recent keys enter memory when they are sent", []edit{{
		"runtime/send.go", "	o.attempts = append(o.attempts, a)\n", "	o.attempts = append(o.attempts, a)\n	o.recall(w.claims)\n",
	}}, core, "TestFailedBatchLeavesNoRecentKeys"},
	{"18 retention removes the tail of an idle stream", []edit{{
		"runtime/internal/maintain/rows.go", "l.seq < least(t.seq, t.window_seq, (SELECT", "l.seq <= greatest(t.seq, (SELECT",
	}}, upkeep, "TestChainKeepsItsTailAndHasNoHole"},
	{"19 retention removes fence rows only", []edit{{
		"runtime/internal/maintain/rows.go", "WHERE l.stream = t.stream AND l.seq <", "WHERE l.stream = t.stream AND l.kind = 'f' AND l.seq <",
	}}, upkeep, "TestChainKeepsItsTailAndHasNoHole"},
	{"19 retention removes no prefix", []edit{{
		"runtime/internal/maintain/rows.go", "AND l.seq < (SELECT min(seq) FROM idem_ledger WHERE stream = $1) + $2", "AND l.seq >= least(t.seq, t.window_seq) - $2",
	}}, upkeep, "TestChainKeepsItsTailAndHasNoHole"},
	{"34 rotation without a seal", []edit{{
		"templates/sql/idem_1.sql", "CHECK (false) NOT VALID", "CHECK (true) NOT VALID",
	}}, core, "TestKeyClaimedAroundASealIsADuplicate"},
	{"34 a claim after the seal without reading again", []edit{{
		"runtime/keys.go", "	for len(keys)+len(hidden) > 0 {\n", "	for len(keys)+len(hidden) > 0 && !again {\n",
	}}, core, "TestKeyClaimedAroundASealIsADuplicate"},
	{"34 only the newest generation is read", []edit{{
		"runtime/internal/generation/list.go", "WHERE consumer = $1 AND idem_session($2::text) ORDER BY sealed_at", "WHERE consumer = $1 AND idem_session($2::text) AND sealed_at IS NULL ORDER BY sealed_at",
	}}, core, "TestKeyIsKnownInEveryGeneration"},
	{"49 what was read is kept over a reconnect", []edit{{
		"runtime/keys.go", "	hits, err := generation.Known(ctx, conn.Conn(), numbers, keys)\n",
		"	hits := kept[o]\n	if hits == nil {\n		hits, err = generation.Known(ctx, conn.Conn(), numbers, keys)\n		kept[o] = hits\n	}\n",
	}, {"runtime/keys.go", "var errOwnKey =", "var kept = map[*owner][]generation.Hit{}\n\nvar errOwnKey ="}}, core, "TestKnownKeysAreReadAgainOnANewConnection"},
	{"49 an own key behind the tail is taken for a duplicate", []edit{{
		"runtime/keys.go", "h.Stream == o.stream && h.Seq > o.tail.Seq", "h.Stream == o.stream && h.Seq > o.tail.Seq && false",
	}}, core, "TestOwnKeyBehindTheTailIsAnAttempt"},
	{"50 the next generation is listed before the seal", []edit{{
		"templates/sql/idem_1.sql", "        EXECUTE format('ALTER TABLE idem_keys_%s ADD CONSTRAINT idem_keys_sealed CHECK (false) NOT VALID', number);\n", "",
	}}, core, "TestRotationWaitsForClaimsInFlight"},
	{"50 a claim does not name its generation's token", []edit{{
		"runtime/internal/generation/list.go", "WHERE gen = $1 AND token = $2)", "WHERE gen = $1 AND $2::uuid IS NOT NULL)",
	}}, core, "TestSealTakenBackByAFailoverIsNoticed"},
	{"56 a table is used again with its keys", []edit{{
		"templates/sql/idem_1.sql", "        EXECUTE format('TRUNCATE idem_keys_%s', number);\n", "",
	}}, upkeep, "TestTableOfKeysIsUsedAgainEmpty"},
	{"the service itself would seal", []edit{{
		"templates/sql/idem_1.sql", "kept interval) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$\nBEGIN", "kept interval) RETURNS void LANGUAGE plpgsql AS $$\nBEGIN",
	}}, core, "TestDocumentedRightsAreEnough"},
	{"keys are forgotten whose window is not over", []edit{{
		"templates/sql/idem_1.sql", "AND sealed_at < clock_timestamp() - keep) THEN", "AND sealed_at < clock_timestamp()) THEN",
	}}, upkeep, "TestFunctionsOfTheKeysJudgeTheirArguments"},
	{"61 own recent keys outlive the memory they belong to", []edit{{
		"runtime/owner.go", "	o.recent = recent.New(recentKeys, o.topic.Window)\n",
		"	if kept[o.id] == nil {\n		kept[o.id] = recent.New(recentKeys, o.topic.Window)\n	}\n	o.recent = kept[o.id]\n",
	}, {"runtime/owner.go", "// givenUp is", "var kept = map[Partition]*recent.Keys{}\n\n// givenUp is"}}, core, "TestOwnRecentKeysEndWithTheOwner"},
	{"62 a filter is kept after a failover", []edit{{
		"runtime/internal/generation/list.go", "return g.Seal, !g.Open", "return wire.UUID{byte(g.Number)}, !g.Open",
	}}, core, "TestSealTakenBackByAFailoverIsNoticed"},
	{"a window made longer is not honoured", []edit{{
		"runtime/internal/generation/drop.go", "greatest(keep, $2::interval)", "least(keep, $2::interval)",
	}}, upkeep, "TestChangedWindow"},
	{"keys expire although the clocks are apart", []edit{{
		"runtime/internal/maintain/maintain.go", "	if late == nil {\n", "	if late == nil || j.Keep > 0 {\n",
	}}, upkeep, "TestClocksApartStopExpiry"},
	{"a key hidden by a conflict is claimed untested", []edit{{
		"runtime/keys.go", "func(key Key) bool { return claimed[key] || decided[key] })", "func(key Key) bool { return true })",
	}}, core, "TestKeyHiddenByAConflictIsTested"},
	{"a conflict is decided before its former keys are looked for", []edit{{
		"runtime/wire/batch.go", "b.hidden = append(b.hidden, unknown...)", "b.hidden = append(b.hidden, unknown[:0]...)",
	}}, core, "TestFirstKnownKeyDecides"},
	{"a former key of a conflict is looked for in the sealed generations only", []edit{{
		"runtime/keys.go", "return o.readKnown(ctx, conn, k, list.Numbers(), keys)", "return o.readKnown(ctx, conn, k, list.Numbers()[:len(list)-1], keys)",
	}}, core, "TestFirstKnownKeyDecides"},
	{"fingerprints of two definitions are compared", []edit{{
		"runtime/wire/content.go", "(known.Def == c.Def || slices.Contains(c.Same, known.Def))", "(known.Def == c.Def || slices.Contains(c.Same, known.Def) || c != nil)",
	}}, core, "TestDefinitionOfAKeyOfTheChain"},
	{"all keys of a segment have its first definition", []edit{{
		"runtime/internal/keyset/segment.go", "		def = g.defs[g.def[i]]\n", "		def = g.defs[0*g.def[i]]\n",
	}}, keysets, "TestSetHoldsTheKeysOfTheWindow"},
	{"a version goes on behind an identity that it does not know", []edit{{
		"runtime/assign.go", "if t.Def != ledger.NoIdentity && !slices.Contains(o.c.service.Identity.Knows, uint32(t.Def)) {", "if t.Def != ledger.NoIdentity && !slices.Contains(o.c.service.Identity.Knows, uint32(t.Def)) && o.c == nil {",
	}}, core, "TestVersionHaltsBehindAnIdentityThatItDoesNotKnow"},
	{"versions: an event is not stored under its former key", []edit{{
		"runtime/wire/batch.go", "	if key != (Key{}) {\n		b.former", "	if key != (Key{}) && b == nil {\n		b.former",
	}}, boundaries, "TestVersionsOfAServiceMayShareAGroup"},
	{"shared keys: the event's name is no content", []edit{{
		"runtime/wire/fingerprint.go", `{ f.name("").text(partText, name) }`, `{ f.name("").text(partText, name[:0]) }`,
	}}, boundaries, "TestAnotherEventUnderASharedKeyIsAConflict"},
	{"shared keys: content of another event is not compared", []edit{{
		"runtime/wire/content.go", "slices.Contains(c.Same, known.Def)", "slices.Contains(c.Same[:0], known.Def)",
	}}, boundaries, "TestAnotherEventUnderASharedKeyIsAConflict"},
	{"versions: fingerprints of two versions are compared", []edit{{
		"runtime/wire/content.go", "(known.Def == c.Def || slices.Contains(c.Same, known.Def))", "(known.Def != 0 || slices.Contains(c.Same, known.Def))",
	}}, boundaries, "TestVersionsOfAServiceMayShareAGroup"},
	{"a duplicate claims nothing", []edit{{
		"runtime/wire/batch.go", "	for _, k := range unknown {", "	if !fresh {\n		unknown = nil\n	}\n	for _, k := range unknown {",
	}}, core, "TestDuplicateJoinsItsKeys"},
	{"the seal waits as briefly as at first", []edit{{
		"runtime/internal/generation/make.go", "wait = min(2*wait, most)", "wait = min(wait, most)",
	}}, upkeep, "TestRotationBesideHandlers"},
	{"open dead letters are removed", []edit{{
		"runtime/internal/maintain/rows.go", "expires_at < clock_timestamp() AND state IN ('r', 'x') ORDER BY expires_at LIMIT $2)\n	AND state IN ('r', 'x')", "expires_at < clock_timestamp() ORDER BY expires_at LIMIT $2)",
	}}, upkeep, "TestDeadLettersThatStayOpen"},
	{"keys have no place", []edit{{
		"runtime/wire/place.go", "	if p.by == nowhere {\n", "	if p.by >= nowhere {\n",
	}}, waves, "TestKeysOfOrderedPartsStandInTheirOrder"},
	{"a number gives a key its place before a time", []edit{{
		"runtime/wire/place.go", "	if by > p.by {\n", "	if p.by == nowhere {\n",
	}}, waves, "TestKeysOfOrderedPartsStandInTheirOrder"},
	{"any UUID gives a key its place", []edit{{
		"runtime/wire/place.go", "(v[uuidVersion] == '6' || v[uuidVersion] == '7')", "v[uuidVersion] != '-'",
	}, {"runtime/wire/place.go", "version == 6 || version == 7", "version != 0"}}, waves, "TestKeysWithoutAnOrderHaveNoPlace"},
	{"the place of a key takes the bytes that tell it from others", []edit{{
		"runtime/wire/place.go", "placeBytes = 5\n", "placeBytes = 8\n",
	}}, waves, "TestKeyIsStable"},
	{"the place of a key is its hash in a table of keys", []edit{{
		"runtime/internal/keyset/segment.go", "bits.Mul64(binary.BigEndian.Uint64(key[8:]),", "bits.Mul64(binary.BigEndian.Uint64(key[:8]),",
	}}, keysets, "TestKeysOfOnePlaceAreSpreadOverATable"},
}
