//go:build unix

package redistest

import "github.com/idemgen/idemgen/internal/kit/maven"

// archive is a Java archive that holds builds of Redis.
var archive = maven.Archive{
	Path: "com/github/codemonstur/embedded-redis/1.4.3/embedded-redis-1.4.3.jar",
	Sum:  "ffbc63265c60d25dee453d6f656b527d98200d98657c6a0ab4dec4ea2c3a5cd6",
}

// builds are the programs in the archive. Only that of linux/amd64 was ever checked; it wants
// OpenSSL 3.
var builds = map[string]string{
	"linux/amd64":  "redis-server-6.2.6-v5-linux-amd64",
	"linux/arm64":  "redis-server-6.2.7-linux-arm64",
	"darwin/amd64": "redis-server-6.2.6-v5-darwin-amd64",
	"darwin/arm64": "redis-server-6.2.6-v5-darwin-arm64",
}
