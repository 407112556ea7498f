package strictjson

import "github.com/idemgen/idemgen/runtime/wire"

// Result reads the stored result of an effect with decode. An event whose result cannot be decoded
// becomes a dead letter.
func Result(event string, stored []byte, decode func(*Scanner)) error {
	var s Scanner
	s.Reset(&wire.Message{Value: stored})
	decode(&s)
	err := s.Finish(event)
	if e, ok := err.(*wire.DecodeError); ok {
		e.Class, e.Path = wire.ReasonResult, "result."+e.Path
	}
	return err
}
