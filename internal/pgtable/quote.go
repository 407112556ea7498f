package pgtable

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// quoted is a name as SQL has it.
func quoted(name ...string) string { return pgx.Identifier(name).Sanitize() }

// literal is a text as SQL has it.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
