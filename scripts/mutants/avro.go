package main

// avroBugs are bugs of values in Avro, and of the wait for their schemas.
var avroBugs = []mutant{
	{"a record is decided although its schema cannot be had",
		in("./runtime/internal/engine", "prepare").Replace(`return 0, &verdict.Later{Err: err}`, `return len(records), nil`),
		core, "TestRecordThatCannotBeDecodedYetWaits"},
	{"what stands before a record that cannot be decoded waits with it",
		in("./runtime/avro", "Message.Prepare").Replace(`return i, nil`, `return 0, err`),
		registries, "TestRegistryThatIsAway"},
	{"a dead letter is decided although its schema cannot be had",
		in("./runtime/internal/engine", "letter.ready").Drop(`if _, err := prepare(ctx, o, l.records()); err != nil { return false, err }`),
		core, "TestLetterThatCannotBeDecodedYetIsTriedAgain"},
	{"a proxy without a registry behind it is believed",
		in("./runtime/avro/registry", "inWords").Replace(`answer.ErrorCode == sr.ErrSchemaNotFound.Code`, `answer.StatusCode == 404`),
		registries, "TestRegistryThatIsAway"},
	{"a schema that is not there is never asked for again",
		in("./runtime/avro", "Message.ask").Never(`errors.Is(err, ErrNoSchema)`),
		registries, "TestWritersSchemas"},
	{"what stands behind a value is not looked at",
		in("./internal/avromsg", "Type.Open").Never(`len(rest) > 0`),
		avroMessages, "TestValuesAreJSON"},
	{"a text that is no UTF-8 is mended silently",
		in("./internal/avromsg", "appendText").Never(`!utf8.ValidString(text)`),
		avroMessages, "TestValuesAreJSON"},
	{"values of another schema are read as if they were the file's",
		in("./runtime/avro", "Message.open").Replace(`m.is.Open(into, value, w.as)`, `m.is.Open(into, value, m.is.Own())`),
		registries, "TestWritersSchemas"},
}
