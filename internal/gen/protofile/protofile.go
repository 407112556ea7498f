// Package protofile reads .proto files. It must not import any other package of this module.
package protofile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	pathpkg "path"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Compile returns the FileDescriptorSet of a file and of what it imports, in the order of the
// imports. Paths are relative to one folder, from which read reads; the files of google/protobuf
// are known. An import that is not found there is looked for in the folder of the file, and in
// each one above it: protoc and buf take any of these for a root. The same files give the same
// bytes.
func Compile(read func(path string) ([]byte, error), file string) ([]byte, error) {
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: func(path string) (io.ReadCloser, error) {
			data, err := read(path)
			for dir := pathpkg.Dir(file); errors.Is(err, fs.ErrNotExist) && dir != "." && dir != "/"; dir = pathpkg.Dir(dir) {
				var below error
				if data, below = read(pathpkg.Join(dir, path)); !errors.Is(below, fs.ErrNotExist) {
					err = below
				}
			}
			return io.NopCloser(bytes.NewReader(data)), err
		},
	})}
	compiled, err := compiler.Compile(context.Background(), file)
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		is := protodesc.ToFileDescriptorProto(f)
		is.SourceCodeInfo = nil
		set.File = append(set.File, is)
	}
	add(compiled[0])
	return proto.MarshalOptions{Deterministic: true}.Marshal(&set)
}
