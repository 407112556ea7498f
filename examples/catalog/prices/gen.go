package prices

//go:generate go tool idemgen generate
