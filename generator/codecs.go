package generator

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/idemgen/idemgen/generator/gopkg"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/scaffold"
)

// addCodecs adds the starter file of Codecs if nobody has begun to implement it; else it notes the
// methods that hand-written code lacks, as text to paste.
func (u *unit) addCodecs(hand *gopkg.Package) error {
	codecs := u.service.Codecs
	written := func(c *model.Codec) bool { return hand.Method(c.Method) }
	_, declared := hand.Declared[scaffold.CodecsType]
	_, err := u.folder.Read(scaffold.CodecsFile)
	if len(codecs) > 0 && errors.Is(err, fs.ErrNotExist) && !declared && !slices.ContainsFunc(codecs, written) {
		data, err := scaffold.Codecs(u.service)
		if err != nil {
			return err
		}
		u.addScaffold(scaffold.CodecsFile, data)
		u.note("%s is yours: implement Codecs there, and pass %s{} to NewConsumer\n", u.folder.Show(scaffold.CodecsFile), scaffold.CodecsType)
		return nil
	}
	receiver := scaffold.CodecsType
	if !declared {
		receiver = cmp.Or(hand.Receiver(func(method string) bool {
			return slices.ContainsFunc(codecs, func(c *model.Codec) bool { return c.Method == method })
		}), receiver)
	}
	for _, c := range codecs {
		if written(c) {
			continue
		}
		text, err := scaffold.CodecMethod(receiver, c)
		if err != nil {
			return err
		}
		u.note("%s has no method for codec %q; to paste beside the others:\n\n%s\n", receiver, c.Type, text)
	}
	return nil
}
