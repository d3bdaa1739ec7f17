package catalogserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

var update = flag.Bool("update", false, "write the golden files anew")

// callsFile is the file of an archive that holds calls, each with its answers.
const callsFile = "calls"

// TestCalls makes the calls of each archive in testdata/calls: a line "> Method {request}" is followed by one line for each message of
// the answer, and one for the error, if there is one.
func TestCalls(t *testing.T) {
	archives, err := filepath.Glob("testdata/calls/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives (%v)", err)
	}
	for _, path := range archives {
		t.Run(filepath.Base(path), func(t *testing.T) { testCalls(t, path) })
	}
}

func testCalls(t *testing.T, path string) {
	archive := must.Value(txtar.ParseFile(path))(t)
	tree := fstest.MapFS{}
	var calls *txtar.File
	for i, f := range archive.Files {
		if f.Name == callsFile {
			calls = &archive.Files[i]
			continue
		}
		tree[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	x := indexOf(t, tree, "sha256:0")
	must.NoError(t, x.Problems().Err())
	conn := dial(t, serve(t, map[string]*catalog.Index{"only": x}).address)
	var got bytes.Buffer
	for line := range strings.Lines(string(calls.Data)) {
		if call, ok := strings.CutPrefix(line, "> "); ok {
			got.WriteString(line)
			// Make a call and write down what comes back.
			ctx := soon(t)
			call := strings.TrimSpace(call)
			name, body, _ := strings.Cut(call, " ")
			method := registry.File_registry_proto.Services().ByName("Registry").Methods().ByName(protoreflect.Name(name))
			if method == nil {
				t.Fatalf("no method %q", name)
			}
			request := newMessage(t, method.Input())
			must.NoErrorf(t, protojson.Unmarshal([]byte(body), request), "%s", call)
			var out strings.Builder
			err := invoke(ctx, conn, method, request, func() proto.Message { return newMessage(t, method.Output()) }, func(m proto.Message) {
				out.WriteString(oneLine(t, m))
			})
			if err != nil {
				fmt.Fprintf(&out, "%s: %s\n", status.Code(err), status.Convert(err).Message())
			}
			got.WriteString(out.String())
		}
	}
	if diff := cmp.Diff(string(calls.Data), got.String()); diff != "" && !*update {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if *update {
		calls.Data = got.Bytes()
		must.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
	}
}

func newMessage(t testing.TB, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	kind := must.Value(protoregistry.GlobalTypes.FindMessageByName(d.FullName()))(t)
	return kind.New().Interface()
}

// invoke calls any method and hands on its answers.
func invoke(ctx context.Context, conn *grpc.ClientConn, m protoreflect.MethodDescriptor, request proto.Message, empty func() proto.Message, use func(proto.Message)) error {
	name := fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: m.IsStreamingServer()}, name)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		message := empty()
		switch err := stream.RecvMsg(message); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		use(message)
		if !m.IsStreamingServer() {
			return nil
		}
	}
}

// oneLine writes a message as JSON with sorted keys.
func oneLine(t testing.TB, m proto.Message) string {
	t.Helper()
	text := must.Value(protojson.Marshal(m))(t)
	var value any
	must.NoError(t, json.Unmarshal(text, &value))
	line := must.Value(encode(value))(t)
	return line + "\n"
}
