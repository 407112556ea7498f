package payments

//go:generate go tool idemgen generate
