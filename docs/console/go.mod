// There is no Go code here. This file keeps the pictures out of the zip of the module around it, which
// every service downloads.
module github.com/idemgen/idemgen/docs/console

go 1.26.0
