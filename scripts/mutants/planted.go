package main

// planted are the bugs. Numbers are those of docs/protocol.md, "The proof"; the others
// are bugs that earlier trials of generated code showed.
var planted = []mutant{
	{"1 the append's predecessor is not checked", []edit{{
		"runtime/internal/ledger/statements.go", "SELECT $1::int, $2::bigint + 1, $4::uuid, p.next, $6", "SELECT $1::int, $2::bigint + 1, $4::uuid, $5::bigint, $6",
	}, {"runtime/internal/ledger/statements.go", "coalesce($11::int, p.def), coalesce($12::int, p.parts)", "coalesce($11::int, p.def, 1), coalesce($12::int, p.parts, 1)"},
		{"runtime/internal/ledger/statements.go", "greatest(p.window_seq, $9::bigint)", "greatest(p.window_seq, $9::bigint, 0)"}}, core, "TestOwnerWhoseLedgerWasRestoredIsRefused"},
	{"2 the predecessor's token is not compared", []edit{{
		"runtime/internal/ledger/statements.go", "AND p.token = $3::uuid", "AND $3::uuid IS NOT NULL",
	}}, core, "TestOwnerWhoseLedgerWasRestoredIsRefused"},
	{"3 one token for all attempts of an owner", []edit{{
		"runtime/send.go", "row:    ledger.Row{Kind: ledger.Batch, Token: newToken(),", "row:    ledger.Row{Kind: ledger.Batch, Token: UUID{byte(o.tail.Seq), 1},",
	}}, core, "TestAttemptThatCommittedIsAdopted"},
	{"4 own token found: advance to the latest attempt's end", []edit{{
		"runtime/resolve.go", "o.settle(o.attempts[i], written)", "o.settle(o.attempts[len(o.attempts)-1], written)",
	}}, core, "TestAttemptThatCommittedIsAdopted"},
	{"7 the append ignores a conflict", []edit{{
		"runtime/internal/ledger/statements.go", "WHERE idem_session($15::text)\nRETURNING", "WHERE idem_session($15::text)\nON CONFLICT DO NOTHING\nRETURNING",
	}}, core, "TestOldOwnerIsRefused"},
	{"8 the append is sent last", []edit{{
		"runtime/send.go", "	p.add(head...)\n", "	p.add(head[1:]...)\n	p.add(head[0])\n",
	}}, core, "TestOldOwnerIsRefusedBeforeItWaitsForARow"},
	{"9 the writes are sent in a transaction of their own", []edit{{
		"runtime/send.go", "	for _, s := range w.steps {\n		head = append(head, o.writeStatement(s))\n	}\n",
		"	early := newPipeline(ctx, conn.Conn())\n	for _, s := range w.steps {\n		early.add(o.writeStatement(s))\n	}\n	if _, err := early.run(); err != nil {\n		return written, err\n	}\n",
	}}, core, "TestRotationWaitsForClaimsInFlight"},
	{"10 replies of single statements are taken as acknowledgement", []edit{{
		"runtime/send.go", "			out.answered++\n", "			if out.answered++; out.answered == len(p.user) {\n				return nil\n			}\n",
	}, {"runtime/send.go", "if closeErr := p.p.Close(); err == nil {", "if closeErr := p.p.Close(); err == nil && closeErr == nil {"}}, core, "TestDeferredConstraintIsNoProgress"},
	{"11 keys enter memory when they are sent", []edit{{
		"runtime/wire/batch.go", "	clear(b.mine)\n", "",
	}, {"runtime/wire/batch.go", "b.claims[:0], b.args[:0]", "b.claims, b.args[:0]"}}, core, "TestCopyIsReconsideredWhenTheFirstDies"},
	{"28 a dead letter claims its key", []edit{{
		"runtime/transact.go", "		w.bury(l)\n", "		w.bury(l)\n		claim := *m\n		claim.Value = []byte(\"skip 0\")\n		_, _ = o.batch.Add(&claim, &o.topic.OnFailure)\n",
	}}, core, "TestDeadLetterDoesNotClaimItsKey"},
	{"29 dead letters are written in a transaction of their own", []edit{{
		"runtime/send.go", "	head = append(head, o.letterStatements(w.letters)...)\n	p := newPipeline", "	early := newPipeline(ctx, conn.Conn())\n	early.add(o.letterStatements(w.letters)...)\n	if _, err := early.run(); err != nil {\n		return written, err\n	}\n	p := newPipeline",
	}}, core, "TestRefusedOwnerLeavesNoDeadLetter"},
	{"35 fingerprints are not compared", []edit{{
		"runtime/wire/content.go", "return known.Print != print && (", "return known.Print != print && len(c.Same) > 1000 && (",
	}}, core, "TestKnownKeyWithOtherContentIsAConflict"},
	{"36 keys are claimed unsorted", []edit{{
		"runtime/keys.go", "return bytes.Compare(a.Key[:], b.Key[:])", "return 0 * bytes.Compare(a.Key[:], b.Key[:])",
	}}, core, "TestClaimsOfTheSameKeysDoNotDeadlock"},
	{"39 a user table's unique violation is taken for the ledger's", []edit{{
		"runtime/internal/pgerror/class.go", "		if _, ok := errors.AsType[*Protocol](err); ok {", "		if pg.Code == \"23505\" {\n			return Successor\n		}\n		if _, ok := errors.AsType[*Protocol](err); ok {",
	}}, core, "TestViolationOfAUserTableIsNotTheLedgers"},
	{"a user's trigger that names the ledger is taken for the ledger", []edit{{
		"runtime/send.go", "i >= len(p.user) || p.user[i]", "i >= len(p.user)",
	}}, core, "TestTriggerThatImitatesTheLedgerIsTheRecordsFault"},
	{"47 genesis is not tied to making the stream row", []edit{{
		"runtime/internal/ledger/statements.go", "VALUES ($1, $2, $3, $4) RETURNING stream)", "VALUES ($1, $2, $3, $4) ON CONFLICT (consumer, topic, topic_id, partition) DO UPDATE SET partition = excluded.partition RETURNING stream)",
	}}, core, "TestLateGenesisStartsNoSecondChain"},
	{"51 COMMIT's tag and the transaction's state are not checked", []edit{{
		"runtime/explicit.go", "if r.tag != commitSQL {", "if r.tag == \"\" {",
	}, {"runtime/call.go", "	case 'T':\n		if err != nil {", "	case 'T', 'E':\n		if err != nil {"},
		{"runtime/call.go", "	case 'E': //", "	case 'x': //"}}, core, "TestSwallowedErrorOfAHandlerIsADeadLetter"},

	{"23 auto.offset.reset=earliest", []edit{{
		"runtime/confluent/settings.go", "\"auto.offset.reset\":        \"error\"", "\"auto.offset.reset\":        \"earliest\"",
	}}, source, "TestPositionThatIsGoneIsAskedAbout"},
	{"25 intake opens without the Seek before it", []edit{{
		"runtime/confluent/run.go", "		} else {\n			r.seek(t)\n		}", "		} else if t.state == waiting {\n			r.seek(t)\n		} else {\n			time.AfterFunc(100*time.Millisecond, func() { r.seek(t) })\n		}",
	}}, source, "TestFencedPartitionIsTakenOverAgain"},
	{"25 a late start opens the queue that was shut meanwhile", []edit{{
		"runtime/confluent/queue.go", "q.open = turn == q.turn", "q.open = turn <= q.turn",
	}}, source, "TestLateStartOpensNothing"},
	{"25 records of the position before are delivered at the new one", []edit{{
		"runtime/confluent/queue.go", "q.open = turn == q.turn", "q.open = turn <= q.turn",
	}, {"runtime/confluent/queue.go", "	q.drop()\n	return q.turn\n", "	return q.turn\n"}}, source, "TestRewindBeforeReadingBegins"},
	{"a partition that is given up while it is taken over waits for itself", []edit{{
		"runtime/confluent/tenure.go", "	t.asking.Unlock() // hold may wait for it before it sees that it is over\n	t.stop()\n", "	defer t.asking.Unlock()\n	t.stop()\n",
	}}, source, "TestRevokeWhileTheBrokerIsAsked"},
	{"26 offset == previous + 1 is demanded", []edit{{
		"runtime/confluent/run.go", "	accepted, full := t.queue.put(message, size)\n", "	if message.Offset != t.next {\n		t.again()\n		return\n	}\n	accepted, full := t.queue.put(message, size)\n",
	}}, source, "TestGapsAreNormal"},
	{"46 the hint is committed before the ack", []edit{{
		"runtime/confluent/hint.go", "hint{t, r.sink.Durable(t.id)}", "hint{t, max(t.next, r.sink.Durable(t.id))}",
	}}, source, "TestHintIsNeverAheadOfTheLedger"},
	{"46 the position passes records that are still held", []edit{{
		"runtime/confluent/queue.go", "	if len(q.batches) > 0 {\n		return -1\n	}\n	return q.end", "	return q.end",
	}}, source, "TestEndIsKnownWhenNothingIsHeld"},
	{"52 the callback returns without assigning", []edit{{
		"runtime/confluent/run.go", "if must || len(fresh) > 0 {", "if len(fresh) > 0 {",
	}}, source, "TestLateTakeOverIsPlacedWhereTheSinkSays"},
	{"59 no Resume of a partition that comes back", []edit{{
		"runtime/confluent/run.go", "			t.queue.start(t.turn)\n		}\n		r.resume(t)\n", "			t.queue.start(t.turn)\n		}\n		if t.paused {\n			r.resume(t)\n		}\n",
	}}, source, "TestPausedPartitionFlowsAfterItComesBack"},
	{"60 error -140 is only logged", []edit{{
		"runtime/confluent/complaint.go", "		r.doubt.Store(true)\n", "		r.doubt.Store(false)\n",
	}}, source, "TestPositionThatIsGoneIsAskedAbout"},
	{"a fenced partition is taken over without standing by", []edit{{
		"runtime/confluent/standby.go", "	turn, ok := r.turn(t)\n", "	turn, ok := idem.Turn{Now: true}, true\n",
	}}, source, "TestFencedPartitionIsTakenOverAgain"},
	{"a standby ends without a record", []edit{{
		"runtime/confluent/standby.go", "for ok && !turn.Now {", "for ok && !ok {",
	}}, source, "TestStandbyWaitsForARecord"},
	{"an idle partition is not looked at", []edit{{
		"runtime/confluent/queue.go", "left = idle - time.Since(since); left <= 0 {", "left = time.Hour - time.Since(since); left <= 0 {",
	}}, source, "TestIdlePartitionIsAppliedAgain"},
	{"an idle partition that waits for a record in standby is not looked at", []edit{{
		"runtime/confluent/standby.go", "if stands(r.sink.Idle(t.ctx, t.id, -1)) {", "if false {",
	}}, source, "TestIdleStandbyIsAskedAgain"},
	{"the record that a standby waited for is passed", []edit{{
		"runtime/confluent/run.go", "		t.next, t.epoch, t.quiet = t.at.Offset, -1, false\n", "		t.next, t.epoch, t.quiet = max(t.next, t.at.Offset), -1, false\n",
	}, {"runtime/confluent/standby.go", "	t.state = taking\n", "	t.state = taking\n	t.next++\n"}}, source, "TestStandbyWaitsForARecord"},
	{"a topic made again is not noticed", []edit{{
		"runtime/confluent/watch.go", "		if now != told {", "		if now.partitions > told.partitions {",
	}}, source, "TestTopicMadeAgainIsNoticed"},
	{"added partitions are not noticed", []edit{{
		"runtime/confluent/watch.go", "		if now != told {", "		if now.id != told.id {",
	}}, source, "TestAddedPartitionsAreNoticed"},
	{"the end of a log is taken for silence", []edit{{
		"runtime/confluent/watch.go", "	t.next = max(t.next, int64(e.Offset))\n", "	t.next = max(t.next, 0*int64(e.Offset))\n",
	}}, source, "TestEndOfALogIsNotSilence"},
	{"partitions that were lost are committed", []edit{{
		"runtime/confluent/rebalance.go", "	if !lost {\n		r.finish(hints)", "	if lost || !lost {\n		r.finish(hints)",
	}}, source, "TestLostPartitionsAreNotCommitted"},

	{"a key claim is always fresh", []edit{{
		"runtime/wire/batch.go", "	case !dup:\n", "	case !dup || dup:\n",
	}}, core, "TestEveryRecordTakesEffectOnce"},
	{"a conflict in the ledger counts as success", []edit{{
		"runtime/send.go", "		return o.resolve(ctx, conn)\n	case pgerror.Gone:", "		return o.settle(a, written), nil\n	case pgerror.Gone:",
	}}, core, "TestOldOwnerIsRefused"},
	{"no flush before a handler", []edit{{
		"runtime/wire/batch.go", "	b.cut()\n	b.calls = true\n", "	b.calls = true\n",
	}}, orders, "TestOrdersV1/handlers/one_batch"},
	{"keys are not stored", []edit{{
		"runtime/send.go", "	head = append(head, o.claimStatements(w)...)\n", "	if len(w.claims) > 1<<30 {\n		head = append(head, o.claimStatements(w)...)\n	}\n",
	}}, core, "TestKeyIsKnownInEveryGeneration"},
	{"redelivered records are not passed over", []edit{{
		"runtime/owner.go", "for len(records) > 0 && records[0].Offset < o.tail.Next {", "for len(records) > 1<<30 && records[0].Offset < o.tail.Next {",
	}}, core, "TestEveryRecordTakesEffectOnce"},
	{"an own commit is taken for another owner's", []edit{{
		"runtime/resolve.go", "return a.row.Token == token", "return a.row.Token == token && false",
	}}, core, "TestAttemptThatCommittedIsAdopted"},
	{"rows of a wave are not told apart", []edit{{
		"runtime/wire/wave.go", "t.whole || a.put || a.deleted || a.other(w.event) {", "t.whole && a.put && a.deleted && a.other(w.event) {",
	}}, waves, "TestWaves"},
	{"children do not wait for a deleted parent", []edit{{
		"runtime/wire/wave.go", "a.deleted || t.whole && t.deleted {", "a.deleted && t.whole && t.deleted {",
	}}, waves, "TestWaves"},
	{"a guard lets older values win", []edit{{
		telemetryCode, "\nWHERE t.seq < excluded.seq`", "`",
	}}, telemetry, "TestTelemetryV1"},
	{"the oldest of a batch wins instead of the newest", []edit{{
		telemetryCode, "ORDER BY device_id, seq DESC, n", "ORDER BY device_id, seq, n",
	}}, telemetry, "TestTelemetryV1"},
	{"of equal versions the last wins instead of the first", []edit{{
		telemetryCode, "ORDER BY device_id, seq DESC, n", "ORDER BY device_id, seq DESC, n DESC",
	}}, telemetry, "TestTelemetryV1"},
	{"positions of elements count from 0", []edit{{
		ordersCode, "r.Int4(int32(i + 1))", "r.Int4(int32(i))",
	}}, orders, "TestOrdersV1/spec"},
	{"a delete leaves rows", []edit{{
		ordersCode, "DELETE FROM order_items AS t\nUSING e\nWHERE t.order_id = e.order_id`", "DELETE FROM order_items AS t\nUSING e\nWHERE t.order_id = e.order_id AND t.line > 1`",
	}}, orders, "TestOrdersV1/spec"},

	{"3 chain: one token for all attempts of an owner", []edit{{
		"runtime/send.go", "row:    ledger.Row{Kind: ledger.Batch, Token: newToken(),", "row:    ledger.Row{Kind: ledger.Batch, Token: UUID{byte(o.tail.Seq), 1},",
	}}, core, "TestAttemptThatCommittedIsAdopted"},
	{"4 chain: own token found: the latest attempt's keys are adopted", []edit{{
		"runtime/resolve.go", "o.settle(o.attempts[i], written)", "o.settle(o.attempts[len(o.attempts)-1], written)",
	}}, core, "TestAttemptThatCommittedIsAdopted"},
	{"11 chain: keys enter memory when they are sent", []edit{{
		"runtime/send.go", "	sent := o.c.now()\n", "	sent := o.c.now()\n	o.remember(a.row)\n",
	}}, core, "TestKeysEnterMemoryWithTheirAcknowledgement"},
	{"12 chain: memory is kept after another owner", []edit{{
		"runtime/memory.go", "	start := time.Now()\n", "	if m := kept[o.c]; m != nil {\n		o.keys = m\n		return nil\n	}\n	kept[o.c] = o.keys\n	start := time.Now()\n",
	}, {"runtime/memory.go", "func (o *owner) full() error", "var kept = map[*Consumer]*keyset.Set{}\n\nfunc (o *owner) full() error"}}, core, "TestMemoryIsNotUsedAfterAnotherOwner"},
	{"13 chain: memory is kept after being fenced, only the tail is read again", []edit{{
		"runtime/resolve.go", "return Result{}, o.fenced(protocol.Foreign, reason)", "_, o.attempts = reason, o.attempts[:0]\n		return Result{}, errors.Join(o.readTail(ctx, conn, claim{}), o.step(protocol.Conflict, nil, nil))",
	}}, core, "TestFencedOwnerDoesNotGoOnWithItsMemory"},
	{"14 chain: keys are loaded before the tail is read", []edit{{
		"runtime/assign.go", "	for end := time.Now().Add(fencePatience); time.Now().Before(end); {\n", "	if err := errors.Join(o.readTail(ctx, conn, a), o.load(ctx)); err != nil {\n		return err\n	}\n	for end := time.Now().Add(fencePatience); time.Now().Before(end); {\n",
	}, {"runtime/assign.go", "err = o.load(ctx) //", "//"}}, core, "TestKeysAreLoadedBehindTheFence"},
	{"20 chain: the window by the process's clock", []edit{{
		"runtime/memory.go", "o.keys.Window(o.clock.at, ", "o.keys.Window(o.c.now(), ",
	}}, core, "TestWindowFollowsTheDatabasesClock"},
	{"20 chain: the window moves although the clocks disagree", []edit{{
		"runtime/clock.go", "agrees: !at.Before(", "agrees: true || !at.Before(",
	}}, core, "TestWindowStandsWhileClocksDisagree"},
	{"20 chain: a load takes the keys that are young by the process's clock", []edit{{
		"runtime/memory.go", "fits = o.keys.Load(", "fits = o.c.now().Sub(ledger.Time(v[1])) >= o.topic.Chain || o.keys.Load(",
	}}, core, "TestOwnersAgreeAtTheEdgeOfTheWindow"},
	{"chain: a full memory is used all the same", []edit{{
		"runtime/internal/keyset/budget.go", "b.used-s.held+bytes-soon > b.limit", "b.used-s.held+bytes-soon > b.limit<<20",
	}}, core, "TestFullKeyMemoryPausesUntilKeysLeave"},
	{"5 the tail's own row is looked at, not the one behind it", []edit{{
		"runtime/resolve.go", "ledger.RowSQL, o.stream, o.tail.Seq+1)", "ledger.RowSQL, o.stream, o.tail.Seq)",
	}}, core, "TestDoubtIsSettledByAppendingAgain"},
	{"6 what is in doubt counts as rolled back", []edit{{
		"runtime/judge.go", "		o.doubtful = true\n	}\n", "		o.doubtful, o.attempts = true, nil\n	}\n",
	}}, core, "TestDoubtIsSettledByAppendingAgain"},
	{"15 a worker that was fenced fences again at once", []edit{{
		"runtime/standby.go", "time.Since(since) >= wait:", "time.Since(since) >= 0:",
	}}, core, "TestTwoDeploymentsOfOneNameDoNotDuel"},
	{"16 a fence that came too late is not handed back", []edit{{
		"runtime/sink.go", "if o.atRest(wait) && lost {", "if o.atRest(wait) && lost && o.tried {",
	}}, core, "TestLateFenceIsHandedBack"},
	{"16 who stands by follows an operator's row that another took", []edit{{
		"runtime/standby.go", "found && !(taken && kind == ledger.Fence)", "found && !(taken && kind == 0)",
	}}, core, "TestOneTakesWhatIsFree"},
	{"16 a turn is used although another used it first", []edit{{
		"runtime/standby.go", "case moved && (quiet || !operator):", "case moved && (quiet || !operator && v == nil):",
	}}, core, "TestOneTakesWhatIsFree"},
	{"fences forget the dead letters in a row", []edit{{
		"runtime/assign.go", "ledger.FenceInfo(who(), o.row)", "ledger.FenceInfo(who(), ledger.InRow{})",
	}}, core, "TestDeadLettersInARowOutliveTheirRows"},
	{"a dead letter that is refused is replaced by another", []edit{{
		"runtime/judge.go", "twice || letterRefused(err) {", "twice || letterRefused(nil) {",
	}}, core, "TestDeadLetterThatIsRefusedHalts"},
	{"16 who stands by follows a hand-back that another took", []edit{{
		"runtime/internal/ledger/append.go", "	return strings.HasPrefix(info, operatorInfo)\n", "	return strings.HasPrefix(info, operatorInfo) || strings.HasPrefix(info, handBackInfo)\n",
	}}, core, "TestHandBackIsOverWhenItIsTaken"},
	{"dead letters in a row are forgotten where the log has gaps", []edit{{
		"runtime/transact.go", "w := &work{records: records, inRow: o.row, known: known}", "w := &work{records: records, inRow: o.row, known: known}\n	if len(records) == 0 {\n		w.inRow.N = 0\n	}",
	}}, core, "TestCrashLoopOverMarkersHalts"},
	{"a standby waits for a record behind markers for ever", []edit{{
		"runtime/confluent/watch.go", "	} else if t.next > t.at.Offset {", "	} else if t.next < 0 {",
	}}, source, "TestMarkersEndTheWait"},
	{"rows of operators are removed with the others", []edit{{
		"runtime/internal/maintain/rows.go", "FROM gone WHERE kind IN ('o', 's', 'r')", "FROM gone WHERE kind IN ('x')",
	}}, upkeep, "TestRowsOfOperatorsAreMoved"},
	{"a mistyped topic id hides the living ledger", []edit{{
		"runtime/stream/stream.go", "!s.Tail.WrittenAt.Before(p.Tail.WrittenAt):", "true:",
	}}, streams, "TestMistypedTopicIDIsNotThePresentOne"},
	{"16 a worker that was fenced never fences again", []edit{{
		"runtime/standby.go", "case state == protocol.Standby && time.Since", "case state == protocol.Off && time.Since",
	}}, core, "TestFencedPartitionIsGivenBack"},
	{"22 a missing chain is begun anew", []edit{{
		"runtime/genesis.go", "	case committed >= 0:\n", "	case committed >= 0 && a.Low < 0:\n",
	}}, core, "TestPartitionThatCannotBeReadHalts"},
	{"24 a stream is found by the topic's name", []edit{{
		"runtime/genesis.go", "case a.broker && topicID != a.TopicID:", "case a.broker && topicID != a.TopicID && partition < 0:",
	}}, core, "TestTopicMadeAgainWhileItIsRead"},
	{"37 a full disk is a record's fault", []edit{{
		"runtime/internal/pgerror/class.go", "	case \"53\", \"58\":\n		return Resource", "	case \"53\", \"58\":\n		return Data",
	}}, core, "TestWhatIsNobodysFaultMakesNoDeadLetter"},
	{"38 a commit with a warning is taken for a lost one", []edit{{
		"runtime/internal/session/session.go", "	cfg.ValidateConnect =", "	cfg.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {\n		if n.Severity == \"WARNING\" {\n			_ = c.Conn().Close()\n		}\n	}\n	cfg.ValidateConnect =",
	}}, core, "TestCommitWithAWarningIsACommit"},
	{"53 standing by is shorter than a transaction", []edit{{
		"runtime/standby.go", "d := 2 * w.c.service.Limits.BatchTimeout", "d := w.c.service.Limits.BatchTimeout / 20",
	}}, core, "TestStandbyLastsLongerThanTransactions"},
	{"54 what the driver cannot encode is in doubt", []edit{{
		"runtime/internal/pgerror/class.go", "	case neverEncoded(err):\n		return Data", "	case neverEncoded(err):\n		return Doubt",
	}}, "./runtime/internal/pgerror", "TestErrorsWithoutASQLSTATE"},
	{"55 a client that stopped reading is waited for", []edit{{
		"runtime/statements.go", "IN ('ClientRead', 'ClientWrite')", "IN ('ClientRead')",
	}}, core, "TestFenceEndsAStalledTransaction"},
	{"57 a missing partition of a table is a record's fault", []edit{{
		"runtime/internal/pgerror/class.go", "return Resource // no partition for the row", "return Data",
	}}, core, "TestWhatIsNobodysFaultMakesNoDeadLetter"},
	{"58 an unknown SQLSTATE is a record's fault", []edit{{
		"runtime/internal/pgerror/class.go", "	if ownClass(pg.Code) {\n		return Data\n	}\n	return Halt", "	return Data",
	}}, core, "TestWhatIsNobodysFaultMakesNoDeadLetter"},
	{"a fence ends migrations", []edit{{
		"runtime/statements.go", "w.locktype = 'transactionid')", "w.locktype <> '')",
	}}, core, "TestFenceEndsNobodyElse"},
	{"stop_after lets dead letters pass", []edit{{
		"runtime/transact.go", "w.inRow.N >= p.StopAfter:", "w.inRow.N >= p.StopAfter<<20:",
	}}, core, "TestDeadLettersInARowHalt"},
	{"a restart forgets the dead letters in a row", []edit{{
		"runtime/assign.go", "o.row = ledger.Letters(", "_ = ledger.Letters(",
	}}, core, "TestRestartDoesNotForgetTheDeadLettersInARow"},
	{"a record after a silence is fought for", []edit{{
		"runtime/standby.go", "case quiet && !v.waited && time", "case quiet && v.waited && time",
	}}, core, "TestRecordAfterASilenceIsLeftToTheOwner"},
	{"an idle worker overlooks that its row is gone", []edit{{
		"runtime/inspect.go", "case t.Token == o.tail.Token:", "case t.Seq <= o.tail.Seq:",
	}}, core, "TestIdlePartitionLearnsWhatBecameOfItsChain"},
	{"an idle worker overlooks rows behind its own", []edit{{
		"runtime/inspect.go", "case t.Token == o.tail.Token:", "case t.Token == o.tail.Token, t.Seq > o.tail.Seq:",
	}}, core, "TestIdlePartitionLearnsWhatBecameOfItsChain"},
	{"an idle worker fences another owner at once", []edit{{
		"runtime/inspect.go", "			_, err = o.resolve(ctx, conn)\n", "			err = nil\n",
	}}, core, "TestIdlePartitionLearnsWhatBecameOfItsChain"},
	{"a new partition begins while the old ones stand", []edit{{
		"runtime/genesis.go", "if err := o.beside(ctx, conn, a); err != nil {", "if err := o.beside(ctx, conn, a); err != nil && a.Low < 0 {",
	}}, core, "TestNewPartitionStandsAsTheOldOnesDo"},
	{"a new partition begins when the first old one is confirmed", []edit{{
		"runtime/partitions.go", "	case s.least != a.Partitions:\n", "	case s.most == a.Partitions:\n	case s.least != a.Partitions:\n",
	}}, core, "TestNewPartitionStandsAsTheOldOnesDo"},
	{"a new partition that stands is forgotten", []edit{{
		"runtime/standby.go", "return false, err == nil && s != *v.beside, err", "return false, err != nil && s != *v.beside, err",
	}}, core, "TestNewPartitionStandsAsTheOldOnesDo"},
	{"an operator's row that cures nothing counts again and again", []edit{{
		"runtime/standby.go", "&turn{protocol.Operator, time.Now()}, w.watch.seen.Token", "&turn{protocol.Operator, time.Now()}, UUID{}",
	}}, core, "TestOperatorsRowCountsOnce"},
	{"17 a row's place is unique within a time only, as in a ledger partitioned by time", []edit{{
		"templates/sql/idem_1.sql", "CONSTRAINT idem_ledger_pkey PRIMARY KEY (stream, seq)", "CONSTRAINT idem_ledger_pkey PRIMARY KEY (stream, seq, written_at)",
	}}, sqlcode, "TestOneRowPerSeq"},
	{"21 the start of a partition is chosen when its first record comes", []edit{{
		"runtime/sink.go", "return Position{Offset: o.tail.Next, Epoch: o.tail.Epoch}, nil", "if o.topic.StartFrom == \"latest\" && o.tail.Seq < 3 {\n		return Position{Offset: a.High, Epoch: -1}, nil\n	}\n	return Position{Offset: o.tail.Next, Epoch: o.tail.Epoch}, nil",
	}}, core, "TestStartIsFixedBeforeTheFirstRecord"},
	{"start_from: latest holds for the first partition only", []edit{{
		"runtime/genesis.go", "added = added || topicID != a.TopicID || o.id.Number >= parts", "added = true",
	}}, core, "TestLatestHoldsForAllPartitionsButAddedOnes"},
	{"start_from: latest passes records of a partition that was added", []edit{{
		"runtime/genesis.go", "|| o.id.Number >= parts", "|| o.id.Number >= parts && parts < 0",
	}}, core, "TestLatestHoldsForAllPartitionsButAddedOnes"},
	{"27 the right half of a search is sent first", []edit{{
		"runtime/owner.go", "o.transact(ctx, rest[:n], 0)", "o.transact(ctx, rest[len(rest)-n:], 0)",
	}}, core, "TestRefusedRecordIsFoundInItsBatch"},
	{"33 a key is unique within its stream only, so that where a copy landed chooses where it is sought", []edit{{
		"templates/sql/idem_1.sql", "(LIKE idem_keys, PRIMARY KEY (key))", "(LIKE idem_keys, PRIMARY KEY (key, stream))",
	}}, core, "TestRaceForAKeyHasOneWinner"},
	{"45 two appends are made of one batch, the second without the first's answer", []edit{{
		"runtime/owner.go", "		done, err := o.transact(ctx, rest[:n], 0)\n", "		_, _ = o.transact(ctx, rest[:n], 0)\n		done, err := o.transact(ctx, rest[:n], 0)\n",
	}}, core, "TestEveryRecordTakesEffectOnce"},
}

// The packages whose tests catch the bugs.
const (
	core       = "./runtime"
	source     = "./runtime/confluent"
	waves      = "./runtime/wire"
	footprints = "./runtime/internal/footprint"
	watchdogs  = "./runtime/internal/watchdog"
	upkeep     = "./runtime/internal/maintain"
	keysets    = "./runtime/internal/keyset"
	recents    = "./runtime/internal/recent"
	outages    = "./runtime/internal/outage"
	streams    = "./runtime/stream"
	sqlcode    = "./generator/sqlcode"
	orders     = "./examples/orders"
	telemetry  = "./examples/telemetry"
)

// Generated files that bugs are planted in.
const (
	ordersCode    = "examples/orders/idem_orders_v1_gen.go"
	telemetryCode = "examples/telemetry/idem_telemetry_v1_gen.go"
)
