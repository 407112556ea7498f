package textbook

//go:generate go tool idemgen generate
