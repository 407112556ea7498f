package postgres

// pin is one build that is fetched where nothing is installed.
type pin struct {
	version string // as the fetching library calls it
	sha256  string // of the archive
}

// pins holds the known builds: platform, then major version. Only linux/amd64 was ever
// checked, so other platforms use an installed PostgreSQL or $IDEMTEST_DATABASE_URL.
var pins = map[string]map[int]pin{
	"linux/amd64": {
		14: {"14.24.0", "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4"},
		15: {"15.19.0", "95f0b66fe72d4ca66c815773c44cb1196ea38552463e89a35f18114b3ed1565f"},
		16: {"16.15.0", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"},
		17: {"17.11.0", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"},
		18: {"18.6.0", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"},
	},
}
