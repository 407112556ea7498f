package recipes

//go:generate go tool idemgen generate
