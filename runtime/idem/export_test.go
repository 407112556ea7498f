package idem

import "time"

// UpkeepEvery shortens the time between two runs of the upkeep in [Consumer.Run].
func (c *Consumer) UpkeepEvery(d time.Duration) { c.interval = d }

// ReportEvery changes the time between two reports without a change.
func (c *Consumer) ReportEvery(d time.Duration) { c.reports = d }
