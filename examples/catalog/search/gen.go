package search

//go:generate go tool idemgen generate
