package notices

//go:generate go tool idemgen generate
