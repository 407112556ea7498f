package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Statement is a statement that is prepared on every connection, under a name that contains a hash
// of its text, so a name never stands for two texts.
type Statement struct {
	Label string // suffix of its name, for operators who read the server's views
	SQL   string
	hash  string
}

// NewStatement returns a statement.
func NewStatement(label, sql string) Statement {
	sum := sha256.Sum256([]byte(sql))
	return Statement{Label: label, SQL: sql, hash: hex.EncodeToString(sum[:8])}
}

// Write returns a statement of the spec.
func Write(sql string) Statement { return NewStatement("write", sql) }

// Name returns the statement's name in the session. Another session does not have this name, so if
// a pooler sends the statement there, it fails (26000).
func (s *Session) Name(st Statement) string {
	return "idem_" + st.hash + "_" + s.mark[:10] + "_" + st.Label
}

// Prepare prepares statements in one round trip. If one fails, it returns how many succeeded.
func (s *Session) Prepare(ctx context.Context, conn *pgconn.PgConn, statements []Statement) (prepared int, err error) {
	p := conn.StartPipeline(ctx)
	for _, st := range statements {
		p.SendPrepare(s.Name(st), st.SQL, nil)
	}
	err = p.Sync()
	for prepared < len(statements) && err == nil {
		if _, err = p.GetResults(); err == nil {
			prepared++
		}
	}
	return prepared, errors.Join(err, p.Close())
}
