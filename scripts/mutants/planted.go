package main

// planted are the bugs. Numbers are those of docs/protocol.md, "The proof"; the others
// are bugs that earlier trials of generated code showed.
var planted = []mutant{
	{"1 the append's predecessor is not checked", []edit{{
		"runtime/internal/ledger/statements.go", "SELECT $1::int, $2::bigint + 1, $4::uuid, p.next, $6", "SELECT $1::int, $2::bigint + 1, $4::uuid, $5::bigint, $6",
	}, {"runtime/internal/ledger/statements.go", "coalesce($11::int, p.def), coalesce($12::int, p.parts)", "coalesce($11::int, p.def, 1), coalesce($12::int, p.parts, 1)"},
		{"runtime/internal/ledger/statements.go", "greatest(p.window_seq, $9::bigint)", "greatest(p.window_seq, $9::bigint, 0)"}}, coreTests + "LedgerWasRestored|OldOwnerIsRefused|OwnRecentKeysEndWithTheOwner"},
	{"2 the predecessor's token is not compared", []edit{{
		"runtime/internal/ledger/statements.go", "AND p.token = $3::uuid", "AND $3::uuid IS NOT NULL",
	}}, coreTests + "LedgerWasRestored"},
	{"3 one token for all attempts of an owner", []edit{{
		"runtime/send.go", "row:    ledger.Row{Kind: ledger.Batch, Token: newToken(),", "row:    ledger.Row{Kind: ledger.Batch, Token: UUID{byte(o.tail.Seq), 1},",
	}}, coreTests + "AttemptThatCommitted/without"},
	{"4 own token found: advance to the latest attempt's end", []edit{{
		"runtime/resolve.go", "o.settle(o.attempts[i], written)", "o.settle(o.attempts[len(o.attempts)-1], written)",
	}}, coreTests + "AttemptThatCommitted"},
	{"7 the append ignores a conflict", []edit{{
		"runtime/internal/ledger/statements.go", "WHERE idem_session($14::text)\nRETURNING", "WHERE idem_session($14::text)\nON CONFLICT DO NOTHING\nRETURNING",
	}}, coreTests + "OldOwnerIsRefused"},
	{"8 the append is sent last", []edit{{
		"runtime/send.go", "	p.add(head...)\n", "	p.add(head[1:]...)\n	p.add(head[0])\n",
	}}, coreTests + "RefusedBeforeItWaits"},
	{"9 the writes are sent in a transaction of their own", []edit{{
		"runtime/send.go", "	for _, s := range w.steps {\n		head = append(head, o.writeStatement(s))\n	}\n",
		"	early := newPipeline(ctx, conn.Conn())\n	for _, s := range w.steps {\n		early.add(o.writeStatement(s))\n	}\n	if _, err := early.run(); err != nil {\n		return written, err\n	}\n",
	}}, coreTests + "CrashAtEveryStep|RotationWaits"},
	{"10 replies of single statements are taken as acknowledgement", []edit{{
		"runtime/send.go", "			out.answered++\n", "			if out.answered++; out.answered == len(p.user) {\n				return nil\n			}\n",
	}, {"runtime/send.go", "if closeErr := p.p.Close(); err == nil {", "if closeErr := p.p.Close(); err == nil && closeErr == nil {"}}, coreTests + "DeferredConstraint"},
	{"11 keys enter memory when they are sent", []edit{{
		"runtime/wire/batch.go", "	clear(b.mine)\n", "",
	}, {"runtime/wire/batch.go", "b.claims[:0], b.args[:0]", "b.claims, b.args[:0]"}}, coreTests + "CopyIsReconsidered|KeyIsKnownInEvery"},
	{"28 a dead letter claims its key", []edit{{
		"runtime/transact.go", "		w.bury(l)\n", "		w.bury(l)\n		claim := *m\n		claim.Value = []byte(\"skip 0\")\n		_, _ = o.batch.Add(&claim, &o.topic.OnFailure)\n",
	}}, coreTests + "DeadLetterDoesNotClaim|FailedBatchLeaves"},
	{"29 dead letters are written in a transaction of their own", []edit{{
		"runtime/send.go", "	head = append(head, o.letterStatements(w.letters)...)\n	p := newPipeline", "	early := newPipeline(ctx, conn.Conn())\n	early.add(o.letterStatements(w.letters)...)\n	if _, err := early.run(); err != nil {\n		return written, err\n	}\n	p := newPipeline",
	}}, coreTests + "RefusedOwnerLeaves|DeadLettersExpire"},
	{"35 fingerprints are not compared", []edit{{
		"runtime/wire/batch.go", "case known.Print != print && known.Def == b.def:", "case known.Print != print && known.Def == b.def && false:",
	}}, coreTests + "KnownKeyWithOtherContent"},
	{"36 keys are claimed unsorted", []edit{{
		"runtime/keys.go", "return bytes.Compare(a.Key[:], b.Key[:])", "return 0 * bytes.Compare(a.Key[:], b.Key[:])",
	}}, coreTests + "ClaimsOfTheSameKeys"},
	{"39 a user table's unique violation is taken for the ledger's", []edit{{
		"runtime/classify.go", "		if _, ok := errors.AsType[*protocolError](err); ok {", "		if pg.Code == \"23505\" {\n			return classSuccessor\n		}\n		if _, ok := errors.AsType[*protocolError](err); ok {",
	}}, coreTests + "ErrorsAreJudged|UserTable"},
	{"a user's trigger that names the ledger is taken for the ledger", []edit{{
		"runtime/send.go", "i >= len(p.user) || p.user[i]", "i >= len(p.user)",
	}}, coreTests + "Imitates"},
	{"47 genesis is not tied to making the stream row", []edit{{
		"runtime/internal/ledger/statements.go", "VALUES ($1, $2, $3, $4) RETURNING stream)", "VALUES ($1, $2, $3, $4) ON CONFLICT (consumer, topic, topic_id, partition) DO UPDATE SET partition = excluded.partition RETURNING stream)",
	}}, coreTests + "LateGenesis"},
	{"51 COMMIT's tag and the transaction's state are not checked", []edit{{
		"runtime/explicit.go", "if r.tag != commitSQL {", "if r.tag == \"\" {",
	}, {"runtime/call.go", "	case 'T':\n		if err != nil {", "	case 'T', 'E':\n		if err != nil {"},
		{"runtime/call.go", "	case 'E': //", "	case 'x': //"}}, coreTests + "Swallowed|StopOnFailureHolds"},

	{"23 auto.offset.reset=earliest", []edit{{
		"runtime/confluent/settings.go", "\"auto.offset.reset\":        \"error\"", "\"auto.offset.reset\":        \"earliest\"",
	}}, sourceTests + "Gone|LostPosition"},
	{"25 intake opens without the Seek before it", []edit{{
		"runtime/confluent/run.go", "		} else {\n			r.seek(t)\n		}", "		} else if t.state == waiting {\n			r.seek(t)\n		} else {\n			time.AfterFunc(100*time.Millisecond, func() { r.seek(t) })\n		}",
	}}, sourceTests + "EarlierPosition|TakenOverAgain"},
	{"25 a late start opens the queue that was shut meanwhile", []edit{{
		"runtime/confluent/queue.go", "q.open = turn == q.turn", "q.open = turn <= q.turn",
	}}, sourceTests + "LateStart"},
	{"25 records of the position before are delivered at the new one", []edit{{
		"runtime/confluent/queue.go", "q.open = turn == q.turn", "q.open = turn <= q.turn",
	}, {"runtime/confluent/queue.go", "	q.drop()\n	return q.turn\n", "	return q.turn\n"}}, sourceTests + "RewindBefore"},
	{"a partition that is given up while it is taken over waits for itself", []edit{{
		"runtime/confluent/tenure.go", "	t.asking.Unlock() // hold may wait for it before it sees that it is over\n	t.stop()\n", "	defer t.asking.Unlock()\n	t.stop()\n",
	}}, sourceTests + "RevokeWhile"},
	{"26 offset == previous + 1 is demanded", []edit{{
		"runtime/confluent/run.go", "	accepted, full := t.queue.put(message, size)\n", "	if message.Offset != t.next {\n		t.again()\n		return\n	}\n	accepted, full := t.queue.put(message, size)\n",
	}}, sourceTests + "Gaps|Compacted"},
	{"46 the hint is committed before the ack", []edit{{
		"runtime/confluent/hint.go", "hint{t, r.sink.Durable(t.id)}", "hint{t, max(t.next, r.sink.Durable(t.id))}",
	}}, sourceTests + "Hint"},
	{"46 the position passes records that are still held", []edit{{
		"runtime/confluent/queue.go", "	if len(q.batches) > 0 {\n		return -1\n	}\n	return q.end", "	return q.end",
	}}, sourceTests + "EndIsKnown"},
	{"52 the callback returns without assigning", []edit{{
		"runtime/confluent/run.go", "if must || len(fresh) > 0 {", "if len(fresh) > 0 {",
	}}, sourceTests + "Late"},
	{"59 no Resume of a partition that comes back", []edit{{
		"runtime/confluent/run.go", "			t.queue.start(t.turn)\n		}\n		r.resume(t)\n", "			t.queue.start(t.turn)\n		}\n		if t.paused {\n			r.resume(t)\n		}\n",
	}}, sourceTests + "Paused|StandBy|Standby"},
	{"60 error -140 is only logged", []edit{{
		"runtime/confluent/complaint.go", "		r.doubt.Store(true)\n", "		r.doubt.Store(false)\n",
	}}, sourceTests + "Gone|LostPosition"},
	{"a fenced partition is taken over without standing by", []edit{{
		"runtime/confluent/standby.go", "	turn, ok := r.turn(t)\n", "	turn, ok := idem.Turn{Now: true}, true\n",
	}}, sourceTests + "TestFencedPartition"},
	{"a standby ends without a record", []edit{{
		"runtime/confluent/standby.go", "for ok && !turn.Now {", "for ok && !ok {",
	}}, sourceTests + "Standby"},
	{"an idle partition is not looked at", []edit{{
		"runtime/confluent/queue.go", "left = idle - time.Since(since); left <= 0 {", "left = time.Hour - time.Since(since); left <= 0 {",
	}}, sourceTests + "IdlePartition"},
	{"an idle partition that waits for a record in standby is not looked at", []edit{{
		"runtime/confluent/standby.go", "if stands(r.sink.Idle(t.ctx, t.id, -1)) {", "if false {",
	}}, sourceTests + "IdleStandby"},
	{"the record that a standby waited for is passed", []edit{{
		"runtime/confluent/run.go", "		t.next, t.epoch, t.quiet = t.at.Offset, -1, false\n", "		t.next, t.epoch, t.quiet = max(t.next, t.at.Offset), -1, false\n",
	}, {"runtime/confluent/standby.go", "	t.state = taking\n", "	t.state = taking\n	t.next++\n"}}, sourceTests + "Standby|TakenOver"},
	{"a topic made again is not noticed", []edit{{
		"runtime/confluent/watch.go", "		if now != told {", "		if now.partitions != told.partitions {",
	}}, sourceTests + "MadeAgain"},
	{"added partitions are not noticed", []edit{{
		"runtime/confluent/watch.go", "		if now != told {", "		if now.id != told.id {",
	}}, sourceTests + "Added"},
	{"the end of a log is taken for silence", []edit{{
		"runtime/confluent/watch.go", "	t.next = max(t.next, int64(e.Offset))\n", "	t.next = max(t.next, 0*int64(e.Offset))\n",
	}}, sourceTests + "Silence"},
	{"partitions that were lost are committed", []edit{{
		"runtime/confluent/rebalance.go", "	if !lost {\n		r.finish(hints)", "	if lost || !lost {\n		r.finish(hints)",
	}}, sourceTests + "Lost"},

	{"a key claim is always fresh", []edit{{
		"runtime/wire/batch.go", "	case !dup:\n", "	case !dup || dup:\n",
	}}, ordersTests},
	{"a conflict in the ledger counts as success", []edit{{
		"runtime/send.go", "		return o.resolve(ctx, conn)\n	case classGone:", "		return o.settle(a, written), nil\n	case classGone:",
	}}, coreTests + "OldOwner|LostReply"},
	{"no flush before a handler", []edit{{
		"runtime/wire/batch.go", "	b.cut()\n	b.calls = true\n", "	b.calls = true\n",
	}}, ordersTests},
	{"keys are not stored", []edit{{
		"runtime/send.go", "	head = append(head, o.claimStatements(w)...)\n", "	if len(w.claims) > 1<<30 {\n		head = append(head, o.claimStatements(w)...)\n	}\n",
	}}, ordersTests},
	{"redelivered records are not passed over", []edit{{
		"runtime/owner.go", "for len(records) > 0 && records[0].Offset < o.tail.Next {", "for len(records) > 1<<30 && records[0].Offset < o.tail.Next {",
	}}, coreTests + "EveryRecord|SourceIsTold"},
	{"an own commit is taken for another owner's", []edit{{
		"runtime/resolve.go", "return a.row.Token == token", "return a.row.Token == token && false",
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

	{"3 chain: one token for all attempts of an owner", []edit{{
		"runtime/send.go", "row:    ledger.Row{Kind: ledger.Batch, Token: newToken(),", "row:    ledger.Row{Kind: ledger.Batch, Token: UUID{byte(o.tail.Seq), 1},",
	}}, coreTests + "AttemptThatCommitted"},
	{"4 chain: own token found: the latest attempt's keys are adopted", []edit{{
		"runtime/resolve.go", "o.settle(o.attempts[i], written)", "o.settle(o.attempts[len(o.attempts)-1], written)",
	}}, coreTests + "AttemptThatCommitted"},
	{"11 chain: keys enter memory when they are sent", []edit{{
		"runtime/send.go", "	sent := o.c.now()\n", "	sent := o.c.now()\n	o.remember(w.keys)\n",
	}}, coreTests + "KeysEnterMemory"},
	{"12 chain: memory is kept after another owner", []edit{{
		"runtime/memory.go", "	start := time.Now()\n", "	if m := kept[o.c]; m != nil {\n		o.keys = m\n		return nil\n	}\n	kept[o.c] = o.keys\n	start := time.Now()\n",
	}, {"runtime/memory.go", "var errKeyMemory =", "var kept = map[*Consumer]*keyset.Set{}\n\nvar errKeyMemory ="}}, coreTests + "NotUsedAfter"},
	{"13 chain: memory is kept after being fenced, only the tail is read again", []edit{{
		"runtime/resolve.go", "return Result{}, o.fenced(protocol.Foreign, reason)", "_, o.attempts = reason, o.attempts[:0]\n		return Result{}, errors.Join(o.readTail(ctx, conn, claim{}), o.step(protocol.Conflict, nil, nil))",
	}}, coreTests + "FencedOwner"},
	{"14 chain: keys are loaded before the tail is read", []edit{{
		"runtime/assign.go", "	for end := time.Now().Add(fencePatience); time.Now().Before(end); {\n", "	if err := errors.Join(o.readTail(ctx, conn, a), o.load(ctx)); err != nil {\n		return err\n	}\n	for end := time.Now().Add(fencePatience); time.Now().Before(end); {\n",
	}, {"runtime/assign.go", "err = o.load(ctx) //", "//"}}, coreTests + "KeysAreLoadedBehind"},
	{"20 chain: the window by the process's clock", []edit{{
		"runtime/memory.go", "o.keys.Window(o.clock.at, ", "o.keys.Window(o.c.now(), ",
	}}, coreTests + "WindowFollows"},
	{"20 chain: the window moves although the clocks disagree", []edit{{
		"runtime/clock.go", "agrees: !at.Before(", "agrees: true || !at.Before(",
	}}, coreTests + "WindowStands"},
	{"20 chain: a load takes the keys that are young by the process's clock", []edit{{
		"runtime/memory.go", "fits = o.keys.Load(", "fits = o.c.now().Sub(ledger.Time(v[1])) >= o.topic.Chain || o.keys.Load(",
	}}, coreTests + "OwnersAgree"},
	{"chain: a full memory is used all the same", []edit{{
		"runtime/internal/keyset/budget.go", "b.used-s.held+bytes-soon > b.limit", "b.used-s.held+bytes-soon > b.limit<<20",
	}}, coreTests + "FullKeyMemory"},
	{"5 the tail's own row is looked at, not the one behind it", []edit{{
		"runtime/resolve.go", "ledger.RowSQL, o.stream, o.tail.Seq+1)", "ledger.RowSQL, o.stream, o.tail.Seq)",
	}}, coreTests + "DoubtIsSettled"},
	{"6 what is in doubt counts as rolled back", []edit{{
		"runtime/judge.go", "		o.doubtful = true\n	}\n", "		o.doubtful, o.attempts = true, nil\n	}\n",
	}}, coreTests + "DoubtIsSettled"},
	{"15 a worker that was fenced fences again at once", []edit{{
		"runtime/standby.go", "time.Since(since) >= wait:", "time.Since(since) >= 0:",
	}}, coreTests + "Duel"},
	{"16 a fence that came too late is not handed back", []edit{{
		"runtime/sink.go", "if o.atRest(wait) && lost {", "if o.atRest(wait) && lost && o.tried {",
	}}, coreTests + "LateFence"},
	{"16 who stands by follows an operator's row that another took", []edit{{
		"runtime/standby.go", "found && !(taken && kind == ledger.Fence)", "found && !(taken && kind == 0)",
	}}, coreTests + "OneTakes"},
	{"16 a turn is used although another used it first", []edit{{
		"runtime/standby.go", "case moved && (quiet || !operator):", "case moved && (quiet || !operator && v == nil):",
	}}, coreTests + "OneTakes"},
	{"fences forget the dead letters in a row", []edit{{
		"runtime/assign.go", "ledger.FenceInfo(who(), o.row)", "ledger.FenceInfo(who(), 0)",
	}}, coreTests + "InARowOutlive"},
	{"a dead letter that is refused is replaced by another", []edit{{
		"runtime/judge.go", "twice || letterRefused(err) {", "twice || letterRefused(nil) {",
	}}, coreTests + "DeadLetterThatIsRefused"},
	{"16 who stands by follows a hand-back that another took", []edit{{
		"runtime/internal/ledger/append.go", "	return strings.HasPrefix(info, operatorInfo)\n", "	return strings.HasPrefix(info, operatorInfo) || strings.HasPrefix(info, handBackInfo)\n",
	}}, coreTests + "HandBackIsOver"},
	{"dead letters in a row are forgotten where the log has gaps", []edit{{
		"runtime/transact.go", "w := &work{records: records, inRow: o.row, known: known}", "w := &work{records: records, inRow: min(o.row, len(records)*o.row), known: known}",
	}}, coreTests + "CrashLoopOverMarkers"},
	{"a standby waits for a record behind markers for ever", []edit{{
		"runtime/confluent/watch.go", "	} else if t.next > t.at.Offset {", "	} else if t.next < 0 {",
	}}, sourceTests + "MarkersEnd"},
	{"rows of operators are removed with the others", []edit{{
		"runtime/internal/maintain/rows.go", "FROM gone WHERE kind IN ('o', 's', 'r')", "FROM gone WHERE kind IN ('x')",
	}}, "./runtime/internal/maintain -run Operators"},
	{"a mistyped topic id hides the living ledger", []edit{{
		"runtime/stream/stream.go", "!s.Tail.WrittenAt.Before(p.Tail.WrittenAt):", "true:",
	}}, "./runtime/stream -run Mistyped"},
	{"16 a worker that was fenced never fences again", []edit{{
		"runtime/standby.go", "case state == protocol.Standby && time.Since", "case state == protocol.Off && time.Since",
	}}, coreTests + "FencedPartition"},
	{"22 a missing chain is begun anew", []edit{{
		"runtime/genesis.go", "	case a.Committed >= 0:\n", "	case a.Committed >= 0 && a.Low < 0:\n",
	}}, coreTests + "CannotBeRead"},
	{"24 a stream is found by the topic's name", []edit{{
		"runtime/genesis.go", "case a.broker && topicID != a.TopicID:", "case a.broker && topicID != a.TopicID && partition < 0:",
	}}, coreTests + "MadeAgain"},
	{"37 a full disk is a record's fault", []edit{{
		"runtime/classify.go", "	case \"53\", \"58\":\n		return classResource", "	case \"53\", \"58\":\n		return classData",
	}}, coreTests + "NobodysFault"},
	{"38 a commit with a warning is taken for a lost one", []edit{{
		"runtime/internal/session/session.go", "	cfg.ValidateConnect =", "	cfg.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {\n		if n.Severity == \"WARNING\" {\n			_ = c.Conn().Close()\n		}\n	}\n	cfg.ValidateConnect =",
	}}, coreTests + "WithAWarning"},
	{"53 standing by is shorter than a transaction", []edit{{
		"runtime/standby.go", "d := 2 * w.c.service.Limits.BatchTimeout", "d := w.c.service.Limits.BatchTimeout / 20",
	}}, coreTests + "StandbyLasts"},
	{"54 what the driver cannot encode is in doubt", []edit{{
		"runtime/classify.go", "	case neverEncoded(err):\n		return classData", "	case neverEncoded(err):\n		return classDoubt",
	}}, coreTests + "WithoutASQLSTATE"},
	{"55 a client that stopped reading is waited for", []edit{{
		"runtime/statements.go", "IN ('ClientRead', 'ClientWrite')", "IN ('ClientRead')",
	}}, coreTests + "EndsAStalled"},
	{"57 a missing partition of a table is a record's fault", []edit{{
		"runtime/classify.go", "return classResource // no partition for the row", "return classData",
	}}, coreTests + "NobodysFault"},
	{"58 an unknown SQLSTATE is a record's fault", []edit{{
		"runtime/classify.go", "	case \"22\", \"23\", \"44\", \"54\":\n		return classData\n	}\n	return classHalt", "	}\n	return classData",
	}}, coreTests + "NobodysFault"},
	{"a fence ends migrations", []edit{{
		"runtime/statements.go", "w.locktype = 'transactionid')", "w.locktype <> '')",
	}}, coreTests + "NobodyElse"},
	{"stop_after lets dead letters pass", []edit{{
		"runtime/transact.go", "w.inRow >= p.StopAfter:", "w.inRow >= p.StopAfter<<20:",
	}}, coreTests + "InARow"},
	{"a restart forgets the dead letters in a row", []edit{{
		"runtime/assign.go", "o.row = ledger.Letters(", "_ = ledger.Letters(",
	}}, coreTests + "DeadLettersInARow"},
	{"a record after a silence is fought for", []edit{{
		"runtime/standby.go", "case quiet && !v.waited && time", "case quiet && v.waited && time",
	}}, coreTests + "AfterASilence"},
	{"an idle worker overlooks that its row is gone", []edit{{
		"runtime/inspect.go", "case t.Token == o.tail.Token:", "case t.Seq <= o.tail.Seq:",
	}}, coreTests + "IdlePartition"},
	{"an idle worker overlooks rows behind its own", []edit{{
		"runtime/inspect.go", "case t.Token == o.tail.Token:", "case t.Token == o.tail.Token, t.Seq > o.tail.Seq:",
	}}, coreTests + "IdlePartition"},
	{"an idle worker fences another owner at once", []edit{{
		"runtime/inspect.go", "			_, err = o.resolve(ctx, conn)\n", "			err = nil\n",
	}}, coreTests + "IdlePartition"},
	{"a new partition begins while the old ones stand", []edit{{
		"runtime/genesis.go", "if err := o.beside(ctx, conn, a); err != nil {", "if err := o.beside(ctx, conn, a); err != nil && a.Low < 0 {",
	}}, coreTests + "NewPartitionStands"},
	{"a new partition begins when the first old one is confirmed", []edit{{
		"runtime/partitions.go", "	case s.least != a.Partitions:\n", "	case s.most == a.Partitions:\n	case s.least != a.Partitions:\n",
	}}, coreTests + "NewPartitionStands"},
	{"a new partition that stands is forgotten", []edit{{
		"runtime/standby.go", "return false, err == nil && s != *v.beside, err", "return false, err != nil && s != *v.beside, err",
	}}, coreTests + "NewPartitionStands"},
	{"an operator's row that cures nothing counts again and again", []edit{{
		"runtime/standby.go", "&turn{protocol.Operator, time.Now()}, w.watch.seen.Token", "&turn{protocol.Operator, time.Now()}, UUID{}",
	}}, coreTests + "OperatorsRowCountsOnce"},
	{"17 a row's place is unique within a time only, as in a ledger partitioned by time", []edit{{
		"templates/sql/idem_1.sql", "CONSTRAINT idem_ledger_pkey PRIMARY KEY (stream, seq)", "CONSTRAINT idem_ledger_pkey PRIMARY KEY (stream, seq, written_at)",
	}}, "./generator/sqlcode -run OneRowPerSeq"},
	{"21 the start of a partition is chosen when its first record comes", []edit{{
		"runtime/sink.go", "return Position{Offset: o.tail.Next, Epoch: o.tail.Epoch}, nil", "if o.topic.StartFrom == \"latest\" && o.tail.Seq < 3 {\n		return Position{Offset: a.High, Epoch: -1}, nil\n	}\n	return Position{Offset: o.tail.Next, Epoch: o.tail.Epoch}, nil",
	}}, coreTests + "StartIsFixed"},
	{"start_from: latest holds for the first partition only", []edit{{
		"runtime/genesis.go", "added = added || topicID != a.TopicID || o.id.Number >= parts", "added = true",
	}}, coreTests + "LatestHolds"},
	{"start_from: latest passes records of a partition that was added", []edit{{
		"runtime/genesis.go", "|| o.id.Number >= parts", "|| o.id.Number >= parts && parts < 0",
	}}, coreTests + "LatestHolds"},
	{"27 the right half of a search is sent first", []edit{{
		"runtime/owner.go", "o.transact(ctx, rest[:n], 0)", "o.transact(ctx, rest[len(rest)-n:], 0)",
	}}, coreTests + "RefusedRecordIsFound"},
	{"33 a key is unique within its stream only, so that where a copy landed chooses where it is sought", []edit{{
		"runtime/internal/generation/make.go", "PRIMARY KEY (key))`", "PRIMARY KEY (key, stream))`",
	}}, coreTests + "RaceForAKey"},
	{"45 two appends of one stream are under way", []edit{{
		"runtime/owner.go", "		done, err := o.transact(ctx, rest[:n], 0)\n", "		go func() { _, _ = o.transact(ctx, rest[:n], 0) }()\n		time.Sleep(time.Millisecond)\n		done, err := o.transact(ctx, rest[:n], 0)\n",
	}}, coreTests + "EveryRecordTakesEffect|CrashAtEvery"},
}

const (
	ordersCode    = "examples/orders/idem_orders_v1_gen.go"
	telemetryCode = "examples/telemetry/idem_telemetry_v1_gen.go"

	sourceTests    = "./runtime/confluent -run "
	coreTests      = "./runtime -run "
	waveTests      = "./runtime/wire"
	ordersTests    = "./examples/orders"
	telemetryTests = "./examples/telemetry"
)
