package main

// catalogBugs are bugs of what the service learns from the database's catalog.
var catalogBugs = []mutant{
	{"equal rows collapse although each must be judged", []edit{{
		"runtime/wire/wave.go", "	if b.wave.apart[r.table] != 0 {\n", "	if b.wave.apart[r.table] > ApartRecords {\n",
	}}, boundaries, "TestBoundariesCarryNoMeaning"},
	{"records share a wave although a trigger sees them", []edit{{
		"runtime/wire/batch.go", "	if b.wave.records {\n", "	if b.wave.records && b.calls {\n",
	}}, boundaries, "TestBoundariesCarryNoMeaning"},
	{"keys are compared byte by byte although they may be loose", []edit{{
		"runtime/wire/wave.go", "func (b *Batch) Puts(r RowID) {\n	w := &b.wave\n	if w.apart[r.table] >= ApartTable {\n",
		"func (b *Batch) Puts(r RowID) {\n	w := &b.wave\n	if w.apart[r.table] > ApartRecords {\n",
	}}, boundaries, "TestBoundariesCarryNoMeaning"},
	{"partitions are not looked at", []edit{{
		"runtime/internal/catalog/look.go", "JOIN pg_inherits i ON i.inhparent = f.oid\n", "JOIN pg_inherits i ON i.inhparent = f.oid AND false\n",
	}}, "./runtime/internal/catalog", "TestVerdicts"},
	{"any encoding is taken", []edit{{
		"runtime/internal/catalog/verdict.go", `f.detail != "UTF8"`, `f.detail == ""`,
	}}, core, "TestOtherEncodingsAreRefusedAtTheStart"},
}

const boundaries = "./generator/gocode/generated"
