package bank

//go:generate go tool idemgen generate
