package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestWriteGolden writes a catalog whose objects are in no order at all.
func TestWriteGolden(t *testing.T) {
	const name = "testdata/write/order.txtar"
	archive := must.Value(txtar.ParseFile(name))(t)
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	c := must.Value(Load(context.Background(), files(map[string]string{"in.yaml": want["in.yaml"]}), LoadOptions{}))(t)
	got := map[string]string{
		"in.yaml":  want["in.yaml"],
		"out.json": string(written(t, WriteJSON, c)),
		"out.yaml": string(written(t, WriteYAML, c)),
	}
	if *update {
		archive.Files = nil
		for _, file := range []string{"in.yaml", "out.json", "out.yaml"} {
			archive.Files = append(archive.Files, txtar.File{Name: file, Data: []byte(got[file])})
		}
		must.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o644))
		return
	}
	must.Equal(t, "written", got, want)
}

// TestWriteKeepsEverything writes each catalog of testdata and reads it again.
func TestWriteKeepsEverything(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata (%v)", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive := must.Value(txtar.ParseFile(name))(t)
			fsys := fstest.MapFS{}
			for _, f := range archive.Files {
				if f.Name != expected {
					fsys[f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			c, err := Load(context.Background(), fsys, LoadOptions{})
			var invalid *InvalidError
			if err != nil && !errors.As(err, &invalid) {
				t.Fatal(err)
			}
			checkRewrite(t, c)
		})
	}
}

// full is a writer that takes no more than n bytes.
type full struct{ n int }

var errFull = errors.New("the disk is full")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.n {
		return 0, errFull
	}
	f.n -= len(p)
	return len(p), nil
}

func TestWriteReportsErrors(t *testing.T) {
	loose := func(value string) *Catalog {
		return &Catalog{Bundles: []Bundle{{Package: "p", Name: "b", Properties: []Property{{Type: "x", Value: json.RawMessage(value)}}}}}
	}
	large := &Catalog{}
	for range 5000 {
		large.Channels = append(large.Channels, Channel{Package: "p", Name: "c"})
	}
	for name, test := range map[string]struct {
		c    *Catalog
		room int
		want string
	}{
		"at the end":       {loose("1"), 10, "write catalog: the disk is full"},
		"in the middle":    {large, 100_000, "write catalog: the disk is full"},
		"no JSON":          {loose("{"), 1000, `write bundle "b" of package "p": properties: [0]: value: this is not JSON: the text ends where a key in double quotes was expected`},
		"no JSON, a Meta":  {&Catalog{Others: []Meta{{Schema: "s", Blob: []byte("x")}}}, 1000, `write object of schema "s": this is not JSON: found 'x' where a value was expected`},
		"without end":      {loose(strings.Repeat("[", 20_000)), 1000, `write bundle "b" of package "p": properties: [0]: value: this is not JSON: lists and objects are nested too deeply`},
		"a payload, loose": {&Catalog{Bundles: []Bundle{{Name: "b", Payloads: []Payload{NewPayload(0, Property{PropertyCSVMetadata, json.RawMessage("}")})}}}}, 1000, `write bundle "b": properties: [0]: value: this is not JSON: found '}' where a value was expected`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []Format{JSON, YAML} {
				err := Write(&full{test.room}, test.c, format)
				if err == nil || err.Error() != test.want {
					t.Errorf("%s: %v, want %s", format, err, test.want)
				}
			}
		})
	}
	if err := Write(io.Discard, &Catalog{}, "xml"); err == nil || err.Error() != `write catalog: there is no format "xml"; choose json or yaml` {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestMarshalBundle(t *testing.T) {
	properties := []Property{
		{Type: "a", Value: json.RawMessage(`"<1>"`)},
		{Type: PropertyBundleObject, Value: json.RawMessage(`{"data":"e30="}`)},
		{Type: PropertyCSVMetadata, Value: json.RawMessage(`{"displayName":"<&>"}`)},
		{Type: "b", Value: json.RawMessage(`2`)},
		{Type: PropertyBundleObject, Value: json.RawMessage(`{"data":"e30=","extra":1}`)},
	}
	packed := Bundle{Schema: SchemaBundle, Name: "x"}
	for i, p := range properties {
		if isPayload(p.Type) {
			packed.Payloads = append(packed.Payloads, NewPayload(i, p))
		} else {
			packed.Properties = append(packed.Properties, p)
		}
	}
	all := must.Value(packed.AllProperties())(t)
	must.Equal(t, "properties", all, properties)
	if len(packed.Properties) != 2 {
		t.Error("AllProperties changed the bundle")
	}
	loose := Bundle{Schema: SchemaBundle, Name: "x", Properties: properties}
	a, errA := json.Marshal(packed)
	b, errB := json.Marshal(loose)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("packed: %s (%v)\nloose:  %s (%v)", a, errA, b, errB)
	}
}
