package handler

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// CopyFrom implements [wire.Tx]. The driver would read the rows and encode their values on a
// goroutine of its own, on which a panic ends the process, and after runtime.Goexit the driver
// waits forever. So both are done here, on the handler's goroutine, and the driver only receives
// bytes.
func (h *handlerTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (n int64, err error) {
	if err := h.begin(); err != nil {
		return 0, err
	}
	defer h.of.life.end()
	if err := h.lives(ctx); err != nil {
		return 0, err
	}
	c := &copying{ctx: h.during(ctx, false), on: h, table: table, columns: columns}
	if tracer, ok := h.of.in.tracer.(pgx.CopyFromTracer); ok {
		c.ctx = tracer.TraceCopyFromStart(c.ctx, h.of.in.conn, pgx.TraceCopyFromStartData{TableName: table, ColumnNames: columns})
		defer func() {
			tracer.TraceCopyFromEnd(c.ctx, h.of.in.conn, pgx.TraceCopyFromEndData{CommandTag: c.tag, Err: err})
		}()
	}
	err = c.run(src)
	return c.tag.RowsAffected(), h.said("INSERT INTO "+table.Sanitize(), h.sent(c.ctx, err)) // COPY needs the same right
}

// copying is one CopyFrom.
type copying struct {
	ctx     context.Context
	on      *handlerTx
	table   pgx.Identifier
	columns []string
	tag     pgconn.CommandTag
}

func (c *copying) run(src pgx.CopyFromSource) error {
	var names []string
	for _, column := range c.columns {
		names = append(names, pgx.Identifier{column}.Sanitize())
	}
	table, list := c.table.Sanitize(), strings.Join(names, ", ")
	// The description keeps its lock on the table, so the columns do not change before COPY.
	described, err := c.on.on.Prepare(c.ctx, "", "SELECT "+list+" FROM "+table)
	if err != nil {
		return err
	}
	call := c.on.of
	call.life.copies(true)
	defer call.life.copies(false)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		tag, err := call.in.conn.PgConn().CopyFrom(c.ctx, r, "COPY "+table+" ("+list+") FROM STDIN BINARY")
		c.tag = tag
		_ = r.CloseWithError(errCopyOver)
		done <- err
	}()
	var failed error
	defer func() { // also if the source ended the goroutine
		if failed != nil {
			_ = w.CloseWithError(errRows)
			<-done
		}
	}()
	returned := false
	call.in.contained(call, &failed, func() error {
		err := c.send(w, src, described.Fields)
		returned = true
		return err
	})
	if !returned { // it panicked
		call.fail(failed)
	}
	if failed != nil && failed != errCopyOver {
		return failed
	}
	failed = nil
	_ = w.Close()
	return <-done
}

var (
	errRows     = errors.New("the rows of a CopyFrom ended with an error")
	errCopyOver = errors.New("COPY has ended")
)

// copyBuffer is how many bytes of rows are passed to the driver at once: what one message of its
// holds.
const copyBuffer = 65531

// send writes the rows in the binary format of COPY.
func (c *copying) send(w io.Writer, src pgx.CopyFromSource, fields []pgconn.FieldDescription) error {
	buf := append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	for src.Next() {
		values, err := src.Values()
		if err != nil {
			return err
		}
		if len(values) != len(fields) {
			return fmt.Errorf("a row of CopyFrom has %d values for %d columns", len(values), len(fields))
		}
		row := len(buf)
		buf = binary.BigEndian.AppendUint16(buf, uint16(len(values)))
		for i, v := range values {
			if buf, err = encodeCopied(c.on.of.in.conn.TypeMap(), buf, fields[i].DataTypeOID, v); err != nil {
				return err
			}
		}
		if longest := len(buf) - row; len(buf) > copyBuffer-longest {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	if err := src.Err(); err != nil {
		return err
	}
	_, err := w.Write(append(buf, 0xff, 0xff))
	return err
}

// encodeCopied appends a value with its length. Like the driver, it also accepts the text of a
// value that has no binary form.
func encodeCopied(types *pgtype.Map, buf []byte, oid uint32, v any) ([]byte, error) {
	at := len(buf)
	buf = binary.BigEndian.AppendUint32(buf, math.MaxUint32) // the length of NULL
	encoded, err := types.Encode(oid, pgx.BinaryFormatCode, v, buf)
	if err != nil {
		read, unread := readText(types, oid, v)
		if unread != nil {
			return nil, err
		}
		if encoded, unread = types.Encode(oid, pgx.BinaryFormatCode, read, buf); unread != nil {
			return nil, err
		}
	}
	if encoded == nil {
		return buf, nil
	}
	binary.BigEndian.PutUint32(encoded[at:], uint32(len(encoded)-at-4))
	return encoded, nil
}

// readText returns the value that the text of v means for a type.
func readText(types *pgtype.Map, oid uint32, v any) (read any, err error) {
	text, ok := v.(string)
	if !ok {
		encoded, err := types.Encode(oid, pgx.TextFormatCode, v, nil)
		if err != nil {
			return nil, err
		}
		text = string(encoded)
	}
	if t, ok := types.TypeForOID(oid); ok {
		if _, is := t.Codec.(*pgtype.ArrayCodec); is { // an array keeps its dimensions
			var array pgtype.Array[any]
			if err := types.Scan(oid, pgx.TextFormatCode, []byte(text), &array); err == nil {
				return array, nil
			}
		}
	}
	err = types.Scan(oid, pgx.TextFormatCode, []byte(text), &read)
	return read, err
}
