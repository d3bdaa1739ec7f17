package catalogserver

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

const customCatalog = `
schema: example.com.custom
package: b
name: two
size: 9007199254740993
---
schema: example.com.custom
package: a
name: one
deep: {list: [1, true, null, "x"]}
---
schema: example.com.custom
package: a
name: zero
---
schema: example.com.custom
name: nobodys
---
schema: example.com.other
package: a
name: other
---
schema: olm.package
name: a
`

func TestExperimentalListPackageCustomSchemas(t *testing.T) {
	conn := dial(t, serve(t, map[string]*catalog.Index{"c": yamlIndex(t, customCatalog)}).address)
	tests := map[string]struct {
		acknowledge string
		schema, pkg string
		want        []string
		code        codes.Code
	}{
		"the objects of a package, in the order of the catalog": {
			acknowledge: "true", schema: "example.com.custom", pkg: "a",
			want: []string{`{"deep":{"list":[1,true,null,"x"]},"name":"one","package":"a","schema":"example.com.custom"}`,
				`{"name":"zero","package":"a","schema":"example.com.custom"}`},
		},
		"numbers become doubles": {
			acknowledge: "true", schema: "example.com.custom", pkg: "b",
			want: []string{`{"name":"two","package":"b","schema":"example.com.custom","size":9007199254740992}`},
		},
		"those of no package": {
			acknowledge: "true", schema: "example.com.custom",
			want: []string{`{"name":"nobodys","schema":"example.com.custom"}`},
		},
		"a package without any":                            {acknowledge: "true", schema: "example.com.custom", pkg: "c"},
		"an unknown schema":                                {acknowledge: "true", schema: "example.com.nothing"},
		"schemas of the registry are not its business":     {acknowledge: "true", schema: catalog.SchemaPackage},
		"nothing for those who do not know what they do":   {schema: "example.com.custom", pkg: "a"},
		"nor for those who say something else":             {acknowledge: "yes", schema: "example.com.custom", pkg: "a"},
		"nor an error":                                     {},
		"no schema":                                        {acknowledge: "true", pkg: "a", code: codes.InvalidArgument},
		"a schema that is none":                            {acknowledge: "true", schema: "../etc", code: codes.InvalidArgument},
		"a package that is none":                           {acknowledge: "true", schema: "example.com.custom", pkg: "a/b", code: codes.InvalidArgument},
		"a package that begins with a dash is none either": {acknowledge: "true", schema: "example.com.custom", pkg: "-a", code: codes.InvalidArgument},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := soon(t)
			if test.acknowledge != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, acknowledgeKey, test.acknowledge)
			}
			stream := must.Value(registry.NewExperimentalRegistryClient(conn).ExperimentalListPackageCustomSchemas(ctx,
				&registry.ExperimentalListPackageCustomSchemasRequest{Schema: test.schema, PackageName: test.pkg}))(t)
			var got []string
			for {
				message, err := stream.Recv()
				if errors.Is(err, io.EOF) && test.code == codes.OK {
					break
				}
				if err != nil {
					must.Equal(t, "code", status.Code(err), test.code)
					break
				}
				got = append(got, strings.TrimSpace(oneLine(t, message)))
			}
			must.Equal(t, "objects", normalised(t, got), normalised(t, test.want))
		})
	}
}

// normalised makes the writing of numbers the same.
func normalised(t *testing.T, lines []string) []any {
	var values []any
	for _, line := range lines {
		var value any
		must.NoError(t, json.Unmarshal([]byte(line), &value))
		values = append(values, value)
	}
	return values
}

// TestObjectsOfManyValuesAreNotSent: a value of one byte takes more than a hundred once it is a message.
func TestObjectsOfManyValuesAreNotSent(t *testing.T) {
	list := "[" + strings.Repeat("0,", maxCustomValues/3) + "0]" // a list of all of them would not be loaded
	text := `{"schema":"example.com.custom","package":"a","name":"large","list":[` + list + "," + list + "," + list + `]}`
	stream, err := registry.NewExperimentalRegistryClient(dial(t, serve(t, map[string]*catalog.Index{"c": yamlIndex(t, text)}).address)).ExperimentalListPackageCustomSchemas(
		metadata.AppendToOutgoingContext(soon(t), acknowledgeKey, "true"), &registry.ExperimentalListPackageCustomSchemasRequest{Schema: "example.com.custom", PackageName: "a"})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(status.Convert(err).Message(), "read it over HTTP") {
		t.Errorf("got %v, want ResourceExhausted", err)
	}
	for text, want := range map[string]int{`{}`: 2, `"[,:{"`: 1, `"\"[,"`: 1, `{"a\\":[1,2]}`: 5} {
		must.Equal(t, text, catalog.JSONValues(json.RawMessage(text)), want)
	}
}
