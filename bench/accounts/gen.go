package accounts

//go:generate go tool idemgen generate
