package mirror

//go:generate go tool idemgen generate
