package cardcharge

//go:generate go tool idemgen generate
