package chain

// every is every choice of the message that the database refuses, none of them first.
var every = []uint8{Messages, 0, 1, 2}

// Short are the bounds that every run of the tests covers.
func Short() []Bound {
	none := every[:1]
	return []Bound{
		{"two workers", Faults{Assignments: 1, Losses: 1, Suspicions: 1}, none, false},
		{"failover", Faults{Assignments: 1, Failovers: 1}, none, false},
		{"failover of one worker", Faults{Losses: 1, Kills: 1, Failovers: 1}, none, false},
		{"refused messages", Faults{Losses: 1, Kills: 1, Refusals: 1, Troubles: 1}, every, false},
		{"retention", Faults{Assignments: 1, Retentions: 1}, none, false},
		{"operator", Faults{Assignments: 1, Operators: 1}, none, false},
		{"pause", Faults{Assignments: 1, Pauses: 1}, none, false},
		{"late genesis", Faults{Assignments: 1, Retentions: 1}, none, true},
		{"ended early", Faults{Losses: 1, Refusals: 1, Shortenings: 1}, none, false},
	}
}

// Full are the bounds of make model.
func Full() []Bound {
	none := every[:1]
	return []Bound{
		{"two workers", Faults{Assignments: 2, Losses: 1, Suspicions: 1}, none, false},
		{"two workers, killed", Faults{Assignments: 1, Losses: 2, Kills: 1, Suspicions: 1}, none, false},
		{"failover", Faults{Assignments: 1, Losses: 1, Kills: 1, Failovers: 1}, none, false},
		{"two failovers", Faults{Losses: 1, Kills: 1, Failovers: 2}, none, false},
		{"refused messages", Faults{Assignments: 1, Losses: 1, Kills: 1, Refusals: 1}, every, false},
		{"refused after a failover", Faults{Assignments: 1, Refusals: 1, Failovers: 1}, every, false},
		{"troubles", Faults{Assignments: 1, Losses: 1, Refusals: 1, Troubles: 1}, every, false},
		{"retention", Faults{Assignments: 1, Losses: 1, Retentions: 1}, none, false},
		{"retention and failover", Faults{Assignments: 1, Failovers: 1, Retentions: 1}, none, false},
		{"operator", Faults{Assignments: 1, Losses: 1, Operators: 1}, none, false},
		{"pause", Faults{Assignments: 1, Losses: 1, Pauses: 1}, none, false},
		{"pause, and operator", Faults{Assignments: 1, Operators: 1, Pauses: 1}, none, false},
		{"operator, suspected", Faults{Assignments: 1, Suspicions: 1, Operators: 1}, none, false},
		{"ended early", Faults{Assignments: 1, Losses: 1, Shortenings: 1}, every, false},
		{"ended early, and failover", Faults{Losses: 1, Failovers: 1, Shortenings: 1}, none, false},
		{"late genesis", Faults{Assignments: 2, Losses: 1}, none, true},
		{"late genesis and retention", Faults{Assignments: 2, Retentions: 1}, none, true},
		{"late genesis and failover", Faults{Assignments: 1, Losses: 1, Failovers: 1}, none, true},
	}
}
