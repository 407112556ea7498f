package second

//go:generate go tool idemgen generate
