package shards

//go:generate go tool idemgen generate
