// Command generate compiles .proto files and writes the Go code of their messages and services beside them, without protoc. It is run
// by go generate in the directory of the files; its parts are pinned in go.mod. It never changes anything but *.pb.go files.
//
// Start reading at generate.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins write code, each for its part, and speak protoc's plugin protocol.
var plugins = []string{"protoc-gen-go", "protoc-gen-go-grpc"}

func main() {
	if err := generate(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "generate: %v\n", err)
		os.Exit(1)
	}
}

// generate writes the code of the named .proto files, which are in the working directory.
func generate(ctx context.Context, names []string) error {
	// Turn .proto files into what plugins read.
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{}),
		SourceInfoMode: protocompile.SourceInfoStandard, // it holds the comments
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return fmt.Errorf("compile %v: %w", names, err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String("paths=source_relative")}
	seen := map[string]bool{}
	for _, file := range files {
		request.ProtoFile = appendWithImports(request.ProtoFile, seen, file)
	}
	input, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode the compiled files: %w", err)
	}
	for _, plugin := range plugins {
		if err := run(ctx, plugin, input); err != nil {
			return fmt.Errorf("run %s: %w", plugin, err)
		}
	}
	return nil
}

// appendWithImports appends a file after those that it imports.
func appendWithImports(to []*descriptorpb.FileDescriptorProto, seen map[string]bool, file protoreflect.FileDescriptor) []*descriptorpb.FileDescriptorProto {
	if seen[file.Path()] {
		return to
	}
	seen[file.Path()] = true
	imports := file.Imports()
	for i := range imports.Len() {
		to = appendWithImports(to, seen, imports.Get(i).FileDescriptor)
	}
	return append(to, protodesc.ToFileDescriptorProto(file))
}

// run lets a plugin write its files.
func run(ctx context.Context, plugin string, input []byte) error {
	cmd := exec.CommandContext(ctx, "go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return fmt.Errorf("decode its answer: %w", err)
	}
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, file := range response.File {
		if err := os.WriteFile(filepath.FromSlash(file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
