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

const insertReadings = `
INSERT INTO readings (reading_id, device_id, site, taken_at, temperature, humidity, battery)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::float8[], $6::float8[], $7::int[])`

const insertNewReadings = freshKeys + `
INSERT INTO readings (reading_id, device_id, site, taken_at, temperature, humidity, battery)
SELECT r.reading_id, r.device_id, r.site, r.taken_at, r.temperature, r.humidity, r.battery
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::float8[], $7::float8[], $8::int[])
	AS r (key, reading_id, device_id, site, taken_at, temperature, humidity, battery)
JOIN fresh USING (key)`

// readings holds readings the way unnest takes them.
type readings struct {
	ids          []int64
	devices      []string
	sites        []string
	times        []time.Time
	temperatures []float64
	humidities   []float64
	batteries    []int32
}

func (c *readings) clear() {
	c.ids, c.devices, c.sites, c.times = c.ids[:0], c.devices[:0], c.sites[:0], c.times[:0]
	c.temperatures, c.humidities, c.batteries = c.temperatures[:0], c.humidities[:0], c.batteries[:0]
}

func (c *readings) args() []any {
	return []any{c.ids, c.devices, c.sites, c.times, c.temperatures, c.humidities, c.batteries}
}

func (c *readings) add(record *kgo.Record) error {
	r, err := decode(record)
	if err != nil {
		return err
	}
	c.ids = append(c.ids, r.ReadingID)
	c.devices = append(c.devices, r.DeviceID)
	c.sites = append(c.sites, r.Site)
	c.times = append(c.times, r.TakenAt)
	c.temperatures = append(c.temperatures, r.Temperature)
	c.humidities = append(c.humidities, r.Humidity)
	c.batteries = append(c.batteries, r.Battery)
	return nil
}
