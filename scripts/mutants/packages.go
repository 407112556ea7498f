package main

// The packages whose tests catch the bugs. Most of them have bugs planted in them.
const (
	core        = "./runtime"
	source      = "./runtime/confluent"
	waves       = "./runtime/wire"
	strictJSON  = "./runtime/wire/strictjson"
	streams     = "./runtime/stream"
	intakes     = "./runtime/internal/intake"
	effects     = "./runtime/internal/effect"
	leases      = "./runtime/internal/pglease"
	footprints  = "./runtime/internal/footprint"
	generations = "./runtime/internal/generation"
	keysets     = "./runtime/internal/keyset"
	outages     = "./runtime/internal/outage"
	verdicts    = "./runtime/internal/verdict"
	handlers    = "./runtime/internal/handler"
	recents     = "./runtime/internal/recent"
	records     = "./runtime/internal/record"
	sessions    = "./runtime/internal/session"
	upkeep      = "./runtime/internal/maintain"
	watchdogs   = "./runtime/internal/watchdog"
	sqlcode     = "./generator/sqlcode"
	bank        = "./examples/bank"
	orders      = "./examples/orders"
	telemetry   = "./examples/telemetry"
	migrations  = "./templates/sql"
)
