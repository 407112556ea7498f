package devices

//go:generate go tool idemgen generate
