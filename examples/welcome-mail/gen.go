package welcomemail

//go:generate go tool idemgen generate
