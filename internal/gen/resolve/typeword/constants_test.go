package typeword

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// TestConstants: a constant is read by its type, in one normal form, or refused.
func TestConstants(t *testing.T) {
	const refused = "\x00refused"
	for _, c := range []struct {
		column string
		text   string
		want   string
	}{
		{"text", "", ""}, {"text", "a\x00b", refused}, {"varchar(3)", "äöü", "äöü"}, {"varchar(3)", "äöüß", refused},
		{"char(2)", "a", refused}, {"char(2)", "ab", "ab"}, {"char(2)", "abc", refused},
		{"boolean", "true", "true"}, {"boolean", "yes", refused}, {"boolean", "TRUE", refused},
		{"integer", "010", refused}, {"integer", "1e3", refused}, {"integer", "-0", "0"},
		{"bigint", "9223372036854775807", "9223372036854775807"}, {"bigint", "9223372036854775808", refused}, {"bigint", "0x10", refused},
		{"numeric(4,2)", "99.99", "99.99"}, {"numeric(4,2)", "99.990", "99.990"}, {"numeric(4,2)", "99.999", refused}, {"numeric(4,2)", "100", refused},
		{"numeric", "NaN", refused}, {"numeric", ".5", refused}, {"numeric", "-12345678901234567890.5", "-12345678901234567890.5"},
		{"numeric(2,2)", "0.25", "0.25"}, {"numeric(2,2)", "1.25", refused},
		{"double precision", "1.5e3", "1.5e3"}, {"double precision", "1e999", refused}, {"double precision", "Inf", refused},
		{"uuid", "7D3F6A52-0C1E-4B7E-9A53-5B0F4A1F6C11", "7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11"}, {"uuid", "{7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11}", refused},
		{"timestamptz", "2026-01-31T12:00:00.1234567+02:00", "2026-01-31T10:00:00.123456Z"}, {"timestamptz", "2026-01-31T12:00:00", refused}, {"timestamptz", "2026-01-31", refused},
		{"timestamp", "2026-01-31T12:00:00.5", "2026-01-31T12:00:00.5"}, {"timestamp", "2026-01-31T12:00:00Z", refused}, {"timestamp", "2026-01-31T12:00:00,5", refused},
		{"date", "2024-02-29", "2024-02-29"}, {"date", "2023-02-29", refused}, {"date", "2024-2-9", refused},
		{"bytea", "AAEC", "AAEC"}, {"bytea", "AAE", refused},
		{"jsonb", `{"a":1}`, `{"a":1}`}, {"jsonb", "{a: 1}", refused}, {"jsonb", `"\u0000"`, refused}, {"json", "null", refused},
		{"smallint", "32767", "32767"}, {"smallint", "32768", refused}, {"real", "0.1", "0.1"}, {"real", "16777217", refused}, {"real", "1e39", refused}, {"inet", "10.0.0.1", "10.0.0.1"},
		{"text array", "{}", "{}"}, {"text array", "{a}", refused}, {"named(app.size)", "large", "large"},
		// the first and the last of each range, and what lies beyond them
		{"smallint", "-32768", "-32768"}, {"smallint", "-32769", refused}, {"integer", "2147483647", "2147483647"}, {"integer", "2147483648", refused},
		{"integer", "-2147483648", "-2147483648"}, {"integer", "-2147483649", refused}, {"bigint", "-9223372036854775808", "-9223372036854775808"}, {"bigint", "-9223372036854775809", refused},
		{"numeric(4,2)", "-99.99", "-99.99"}, {"numeric(4,2)", "-100", refused}, {"numeric(4,0)", "9999", "9999"}, {"numeric(4,0)", "1.5", refused}, {"numeric(4,0)", "1.0", "1.0"},
		{"double precision", "1.7976931348623157e308", "1.7976931348623157e308"}, {"double precision", "-1.8e308", refused}, {"double precision", "5e-324", "5e-324"},
		{"double precision", "1e-324", refused}, {"double precision", "-1E-324", refused}, {"double precision", "-0.00e7", "-0.00e7"}, {"double precision", "0E-400", "0E-400"},
		{"real", "3.4028235e38", "3.4028235e38"}, {"real", "-3.5e38", refused}, {"real", "1e-45", "1e-45"}, {"real", "1e-46", refused}, {"real", "a", refused},
		{"timestamptz", "2026-01-31T12:00:00,5Z", refused}, {"timestamptz", "2026-01-31T12:00:00.999999999Z", "2026-01-31T12:00:00.999999Z"}, {"timestamp", "2026-01-31T12:00:00.9999999", "2026-01-31T12:00:00.999999"},
		{"timestamptz", "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999999Z"}, {"timestamptz", "9999-12-31T23:59:59-00:01", refused},
		{"timestamptz", "0000-01-01T00:01:00+00:01", "0000-01-01T00:00:00Z"}, {"timestamptz", "0000-01-01T00:00:00+00:01", refused},
		{"timestamp", "2026-02-30T12:00:00", refused}, {"varchar(3)", "a\x00b", refused}, {"char(3)", "a\x00b", refused}, {"char(2)", "äö", "äö"}, {"text", "\xff", refused},
		{"bytea", "AAF=", refused}, {"bytea", "", ""}, {"json", " null\n", refused}, {"jsonb", `"null"`, `"null"`}, {"boolean", "false", "false"}, {"integer", "-1", "-1"}, {"integer", "-", refused},
	} {
		ct, ok := ColumnType(c.column)
		if !ok {
			t.Fatalf("no column type %s", c.column)
		}
		got, why := ColumnConstant(ct, c.text)
		if why != Fits {
			got = refused
		}
		if got != c.want {
			t.Errorf("%s %q: got %q (%s), want %q", c.column, c.text, got, why, c.want)
		}
	}
}

// TestFieldDefaults: the defaults that columnConstant does not cover.
func TestFieldDefaults(t *testing.T) {
	state := &model.Type{Enum: []model.EnumValue{{Text: "open"}}}
	for _, c := range []struct {
		typ  model.FieldType
		text string
		ok   bool
	}{
		{model.FieldType{Kind: model.Enum, Named: state}, "open", true}, {model.FieldType{Kind: model.Enum, Named: state}, "Open", false},
		{model.FieldType{Kind: model.Timestamp, Notation: model.EpochSeconds}, "1772355600", true}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochSeconds}, "1772355600000", false}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochMillis}, "1772355600", false}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochMillis}, "1772355600000", true},
		{model.FieldType{Kind: model.Timestamp, Notation: model.EpochMicros}, "1772355600000000", true}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochNanos}, "1772355600000000000", true}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochNanos}, "1772355600000000", false},
		{model.FieldType{Kind: model.Timestamp, Notation: model.EpochSeconds}, "99964799", false}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochSeconds}, "100000000", true}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochSeconds}, "7258118399", true}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochSeconds}, "7258118400", false},
		{model.FieldType{Kind: model.Timestamp, Notation: model.EpochMillis, AnyTime: true}, "-62167219200000", true}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochMillis, AnyTime: true}, "-62167219200001", false}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochMillis, AnyTime: true}, "253402300799999", true}, {model.FieldType{Kind: model.Timestamp, Notation: model.EpochMillis, AnyTime: true}, "253402300800000", false},
		{model.FieldType{Kind: model.Date, Notation: model.EpochDays}, "-719162", true}, {model.FieldType{Kind: model.List, Named: state}, "[]", false}, {model.FieldType{Kind: model.Object, Named: state}, "{}", false},
	} {
		if _, why := FieldConstant(c.typ, c.text); (why == Fits) != c.ok {
			t.Errorf("%v %q: %q", c.typ, c.text, why)
		}
	}
}

// The length and the digits of a column are those that Postgres takes.
func TestLengthsAndDigitsOfColumns(t *testing.T) {
	for word, ok := range map[string]bool{
		"varchar(1)": true, "varchar(10485760)": true, "varchar(10485761)": false, "char(10485760)": true, "char(10485761)": false, "varchar(0)": false, "varchar": false,
		"numeric(1000,1000)": true, "numeric(1001,0)": false, "numeric(1000,1001)": false, "numeric(2,3)": false, "numeric(3,3)": true, "numeric(0,0)": false, "numeric(4)": false,
	} {
		if ct, is := ColumnType(word); is != ok {
			t.Errorf("%s: %v, %v", word, ct, is)
		}
	}
}
