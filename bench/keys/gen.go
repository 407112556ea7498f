package keys

//go:generate go tool idemgen generate
