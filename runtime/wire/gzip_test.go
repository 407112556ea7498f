package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Whatever producers write the same content as, it is unpacked to the same bytes, and the record
// stays as it was.
func TestGzipUnpacksAValue(t *testing.T) {
	var g Gzip
	for _, text := range []string{"", "{}", `{"a":1}`, strings.Repeat("long ", 100_000), "short again"} {
		var fast bytes.Buffer
		w, _ := gzip.NewWriterLevel(&fast, gzip.NoCompression)
		w.Name, w.Comment = "value.json", "with a name"
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		for _, value := range [][]byte{gzipped(t, text), fast.Bytes()} {
			m := Message{Value: value, Key: []byte("k"), Offset: 7}
			opened, err := g.Open(&m)
			if err != nil || string(opened.Value) != text || opened.Value == nil {
				t.Fatalf("%d bytes were unpacked to %v, %v", len(text), opened, err)
			}
			if &m.Value[0] != &value[0] || opened.Offset != 7 || string(opened.Key) != "k" {
				t.Fatal("the rest of the record differs")
			}
		}
	}
	m := Message{}
	if opened, err := g.Open(&m); opened != &m || err != nil {
		t.Errorf("a record without a value: %v, %v", opened, err)
	}
}

// What is not one whole member of gzip is refused, in words that say what is wrong with it, and
// the next record is read as if nothing had been.
func TestGzipRefusesWhatIsNotOneWholeMember(t *testing.T) {
	whole := gzipped(t, `{"email":"ann@example.com"}`)
	damaged := func(at int) []byte {
		out := bytes.Clone(whole)
		out[at] ^= 0x55
		return out
	}
	var g Gzip
	for name, c := range map[string]struct {
		value []byte
		want  string
	}{
		"nothing":            {[]byte{}, "is empty"},
		"plain JSON":         {[]byte(`{"email":"ann@example.com"}`), "does not begin as gzip does"},
		"half a header":      {whole[:5], "is gzip that ends too early"},
		"half the content":   {whole[:len(whole)/2], "is gzip that ends too early"},
		"half the checksum":  {whole[:len(whole)-6], "is gzip that ends too early"},
		"another checksum":   {damaged(len(whole) - 8), "is damaged: it does not have the checksum that gzip noted"},
		"another length":     {damaged(len(whole) - 1), "is damaged: it does not have the checksum that gzip noted"},
		"no deflate":         {append(bytes.Clone(whole[:10]), 0xff, 0xff, 0xff), "is gzip that is damaged"},
		"a byte behind":      {append(bytes.Clone(whole), 0), "has data behind its gzip member: there must be one member, and nothing else"},
		"two members":        {append(bytes.Clone(whole), whole...), "has data behind its gzip member: there must be one member, and nothing else"},
		"a byte in front":    {append([]byte{' '}, whole...), "does not begin as gzip does"},
		"a zlib stream":      {[]byte{0x78, 0x9c, 0x03, 0, 0, 0, 0, 1, 0, 0, 0, 0}, "does not begin as gzip does"},
		"the first byte off": {damaged(0), "does not begin as gzip does"},
	} {
		_, err := g.Open(&Message{Value: c.value})
		if want := "decode: the payload " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s: %v, not %s", name, err, want)
		}
		if opened, err := g.Open(&Message{Value: whole}); err != nil || !strings.Contains(string(opened.Value), "ann@") {
			t.Errorf("%s: the record behind it: %v", name, err)
		}
	}
}

// A small value that is unpacked to a large one is refused as too large, and no more than that is
// ever unpacked or kept.
func TestGzipStopsAtMaxPayload(t *testing.T) {
	for most, usual := range map[int]bool{1 << 20: true, 1000: false, 3 << 20: false} {
		g := Gzip{MaxPayload: most}
		if usual {
			g = Gzip{}
		}
		if opened, err := g.Open(&Message{Value: gzipped(t, strings.Repeat("0", most))}); err != nil || len(opened.Value) != most {
			t.Errorf("as many bytes as max_payload: %v", err)
		}
		for _, n := range []int{most + 1, 10 << 20} {
			_, err := g.Open(&Message{Value: gzipped(t, strings.Repeat("0", n))})
			refused, ok := errors.AsType[*DecodeError](err)
			if !ok || refused.Class != ReasonTooLarge {
				t.Errorf("%d bytes, where max_payload is %d: %v", n, most, err)
			}
			if cap(g.value) > 4*most+firstGzipBytes {
				t.Errorf("%d bytes of memory, where max_payload is %d", cap(g.value), most)
			}
		}
		if _, err := g.Open(&Message{Value: gzipped(t, "small")}); err != nil || cap(g.value) > keptGzipBytes {
			t.Errorf("%d bytes of memory are kept, %v", cap(g.value), err)
		}
	}
}

// FuzzGzip: a value is unpacked if and only if the standard library unpacks it as one member,
// and to the same bytes.
func FuzzGzip(f *testing.F) {
	for _, text := range []string{"", "{}", strings.Repeat("ab", 700)} {
		f.Add(gzipped(f, text))
	}
	f.Add([]byte("\x1f\x8b\x08\x1e\x00\x00\x00\x00\x00\x03\x02\x00ab\x00\x00"))
	f.Fuzz(func(t *testing.T, value []byte) {
		const most = 1000
		g := Gzip{MaxPayload: most}
		opened, err := g.Open(&Message{Value: append([]byte{}, value...)})
		var want []byte
		source := bytes.NewReader(value)
		member, wrong := gzip.NewReader(source)
		if wrong == nil {
			member.Multistream(false)
			want, wrong = io.ReadAll(io.LimitReader(member, 10*most))
		}
		ok := wrong == nil && source.Len() == 0 && len(want) <= most
		if ok != (err == nil) {
			t.Fatalf("%x: %v, not %v", value, err, wrong)
		}
		if ok && !bytes.Equal(opened.Value, want) {
			t.Fatalf("%x was unpacked to %q, not %q", value, opened.Value, want)
		}
	})
}

// Handlers and effects of a batch get the payload of their own record, whatever was unpacked
// since.
func TestCodeGetsItsOwnPayload(t *testing.T) {
	var g Gzip
	b := NewBatch(newScript())
	b.Reset(nil)
	for _, text := range []string{"first one", "second one"} {
		m, err := g.Open(&Message{Value: gzipped(t, text)})
		if err != nil {
			t.Fatal(err)
		}
		b.Call(m, Call{})
		b.Effect(m, Effect{})
	}
	steps, _ := b.Finish()
	steps = slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Call == nil })
	waiting, _ := b.Awaited()
	for i, want := range []string{"first one", "second one"} {
		if call, effect := string(steps[i].Call.Message.Value), string(waiting[i].Message.Value); call != want || effect != want {
			t.Errorf("the handler of %q gets %q, its effect %q", want, call, effect)
		}
	}
}
