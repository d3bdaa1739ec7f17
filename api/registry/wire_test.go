package registry_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/descriptorpb"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/test/must"
)

// TestWireFormat holds the generated code to the published names, numbers and types, which testdata/wire.txt lists and which never change.
func TestWireFormat(t *testing.T) {
	want := must.Value(os.ReadFile("testdata/wire.txt"))(t)
	var got strings.Builder
	file := registry.File_registry_proto
	for i := range file.Services().Len() {
		service := file.Services().Get(i)
		for j := range service.Methods().Len() {
			m := service.Methods().Get(j)
			answer := string(m.Output().FullName())
			if m.IsStreamingServer() {
				answer = "stream " + answer
			}
			text := fmt.Sprintf("/%s/%s %s -> %s", m.Parent().FullName(), m.Name(), m.Input().FullName(), answer)
			if m.Options().(*descriptorpb.MethodOptions).GetDeprecated() {
				text += " deprecated"
			}
			fmt.Fprintln(&got, text)
		}
	}
	for i := range file.Messages().Len() {
		message := file.Messages().Get(i)
		fmt.Fprintln(&got, message.FullName())
		for j := range message.Fields().Len() {
			f := message.Fields().Get(j)
			kind := f.Kind().String()
			if f.Message() != nil {
				kind = string(f.Message().FullName())
			}
			if f.IsList() {
				kind = "repeated " + kind
			}
			fmt.Fprintln(&got, "  "+fmt.Sprintf("%d %s %s", f.Number(), f.Name(), kind))
		}
	}
	must.Equal(t, "the wire format changed", got.String(), string(want))
}
