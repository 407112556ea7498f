package directory

//go:generate go tool idemgen generate
