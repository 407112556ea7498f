package takeover

//go:generate go tool idemgen generate
