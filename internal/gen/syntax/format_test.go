package syntax

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

const messy = `

version:   1  
consumer: orders   # the   name
# tables of ours
tables:
    orders:
        primary_key: [ order_id,  b ,c ]
        columns:
            order_id:    uuid
            # what it costs
            total: { type: "numeric(12,2)" ,default: 0 }


            note: nullable text
        # below columns

    # before items
    items: {
        primary_key: [a],   # why
          # and so
        columns: {a: text,
                  b: "x, {y:  z", c: , d: }
      }
topics:
   o.v1:
      description: |
         Two   lines
           of text   

         and more
      write:
      - insert: orders
        set:   {a: {value: it's}, b: {value: 'don''t,  x'}}
      -   update: items
          where: {a: b}
`

const tidy = `version: 1
consumer: orders   # the   name
# tables of ours
tables:
  orders:
    primary_key: [order_id, b, c]
    columns:
      order_id: uuid
      # what it costs
      total: {type: "numeric(12,2)", default: 0}

      note: nullable text
    # below columns

  # before items
  items: {
      primary_key: [a],   # why
        # and so
      columns: {a: text,
                b: "x, {y:  z", c: , d: }
    }
topics:
  o.v1:
    description: |
       Two   lines
         of text   

       and more
    write:
      - insert: orders
        set: {a: {value: it's}, b: {value: 'don''t,  x'}}
      - update: items
        where: {a: b}
`

// A file is laid out once and for all; comments, quotes and texts stay as they are.
func TestFormat(t *testing.T) {
	for _, text := range []string{messy, tidy, "\r\n" + messy} {
		if out, problems := Format([]byte(text)); string(out) != tidy || problems.Errors() > 0 {
			t.Errorf("%v\n%s", problems.Sorted(), out)
		}
	}
	if out, problems := Format([]byte("a: [\n")); string(out) != "a: [\n" || problems.Errors() == 0 {
		t.Errorf("%q, %v", out, problems.Sorted())
	}
}

// The specs of this repository are laid out so.
func TestSpecsAreFormatted(t *testing.T) {
	files, _ := filepath.Glob("../../../examples/*/idemgen.yaml")
	cases, _ := filepath.Glob("../../../examples/*/testdata/cases/*.yaml")
	golden, _ := filepath.Glob("../../../testdata/golden/accepted/*/idemgen.yaml")
	for _, file := range append(append(files, cases...), golden...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out, problems := Format(data); !bytes.Equal(out, data) {
			t.Errorf("%s: %v\n%s", file, problems.Sorted(), out)
		}
	}
	if len(golden) == 0 || len(cases) == 0 {
		t.Error("no specs")
	}
}

// FuzzFormat: what is laid out is laid out already. That it says the same, Format itself holds:
// what it does not understand stays as it is, with a problem.
func FuzzFormat(f *testing.F) {
	f.Add([]byte(messy))
	f.Add([]byte("0\t0\n\t"))
	f.Add([]byte("a:\n - b: {c: 'd''e' , f: [ ] }\n   g: >\n    h\n\n  # i\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		was, problems := Parse(data)
		if was == nil || problems.Errors() > 0 {
			return
		}
		out, problems := Format(data)
		if problems.Errors() > 0 && !bytes.Equal(out, data) {
			t.Fatalf("%q", out)
		}
		if again, _ := Format(out); !bytes.Equal(again, out) {
			t.Fatalf("%q becomes %q", out, again)
		}
	})
}
