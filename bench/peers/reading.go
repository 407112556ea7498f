package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// reading is what a record's value holds, as far as it is used.
type reading struct {
	ReadingID   int64     `json:"reading_id"`
	DeviceID    string    `json:"device_id"`
	Site        string    `json:"site"`
	TakenAt     time.Time `json:"taken_at"`
	Temperature float64   `json:"temperature"`
	Humidity    float64   `json:"humidity"`
	Battery     int32     `json:"battery"`
}

func decode(r *kgo.Record) (reading, error) {
	var one reading
	if err := json.Unmarshal(r.Value, &one); err != nil {
		return one, fmt.Errorf("partition %d, offset %d: %w", r.Partition, r.Offset, err)
	}
	return one, nil
}

// columns holds readings the way unnest takes them.
type columns struct {
	ids          []int64
	devices      []string
	sites        []string
	times        []time.Time
	temperatures []float64
	humidities   []float64
	batteries    []int32
}

func (c *columns) clear() {
	c.ids, c.devices, c.sites, c.times = c.ids[:0], c.devices[:0], c.sites[:0], c.times[:0]
	c.temperatures, c.humidities, c.batteries = c.temperatures[:0], c.humidities[:0], c.batteries[:0]
}

func (c *columns) add(r reading) {
	c.ids = append(c.ids, r.ReadingID)
	c.devices = append(c.devices, r.DeviceID)
	c.sites = append(c.sites, r.Site)
	c.times = append(c.times, r.TakenAt)
	c.temperatures = append(c.temperatures, r.Temperature)
	c.humidities = append(c.humidities, r.Humidity)
	c.batteries = append(c.batteries, r.Battery)
}
