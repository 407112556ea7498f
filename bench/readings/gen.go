package readings

//go:generate go tool idemgen generate
