package first

//go:generate go tool idemgen generate
