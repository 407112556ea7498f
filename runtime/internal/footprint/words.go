package footprint

import "strings"

// keywords may be in front of a parenthesis that calls nothing. Those that are not
// reserved, and may name a function, are listed with what is in front of them then
// (https://www.postgresql.org/docs/current/sql-keywords-appendix.html).
var keywords = map[string][]string{
	"all": nil, "and": nil, "any": nil, "array": nil, "as": nil, "case": nil, "else": nil, "except": nil, "from": nil, "having": nil,
	"in": nil, "intersect": nil, "lateral": nil, "limit": nil, "not": nil, "offset": nil, "on": nil, "or": nil, "returning": nil,
	"select": nil, "some": nil, "then": nil, "union": nil, "using": nil, "when": nil, "where": nil,
	"between": nil, "coalesce": nil, "exists": nil, "greatest": nil, "least": nil, "nullif": nil, "row": nil, "values": nil,
	"cast": nil, "extract": nil, "overlay": nil, "position": nil, "substring": nil, "trim": nil,
	"bit": nil, "char": nil, "character": nil, "decimal": nil, "interval": nil, "numeric": nil, "time": nil, "timestamp": nil, "varchar": nil,
	"by":           {"group", "order", "partition"},
	"conflict":     {"on"},
	"filter":       {")"},
	"materialized": {"as", "not"},
	"over":         {")"},
	"group":        {"within"},
}

// functions are the server's own that are common in handlers, and leave nothing behind.
// Locks of transactions end with them, and what is notified is sent at COMMIT.
var functions = setOf(`
abs age array_agg array_append array_cat array_length array_position array_prepend array_remove array_replace array_to_string avg
bool_and bool_or btrim ceil ceiling char_length clock_timestamp concat concat_ws convert_from convert_to count cume_dist currval
date_bin date_part date_trunc decode dense_rank div encode every exp first_value floor format gen_random_uuid generate_series
hashtext hashtextextended initcap
json_agg json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text
json_extract_path json_extract_path_text json_object json_object_agg json_strip_nulls json_to_record json_to_recordset json_typeof
jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg jsonb_object_keys jsonb_set
jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof
justify_days justify_hours justify_interval lag last_value lastval lead left length ln lo_close lo_create lo_lseek64 lo_open lo_tell64
lo_truncate64 lo_unlink log loread lower lowrite lpad ltrim
make_date make_interval make_time make_timestamp make_timestamptz max md5 min mod nextval now nth_value ntile num_nonnulls num_nulls
octet_length percent_rank percentile_cont percentile_disc pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_notify pg_sleep
pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared power random range_merge rank regexp_match regexp_matches regexp_replace
regexp_split_to_array repeat replace reverse right round row_number row_to_json rpad rtrim
sha224 sha256 sha384 sha512 sign split_part sqrt starts_with statement_timestamp stddev string_agg string_to_array strpos substr sum
timezone to_char to_date to_hex to_json to_jsonb to_number to_timestamp transaction_timestamp translate trunc
txid_current unnest upper variance width_bucket`)

func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
