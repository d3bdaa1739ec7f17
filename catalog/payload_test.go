package catalog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
)

func objectValue(manifest string) string {
	return `{"data":"` + base64.StdEncoding.EncodeToString([]byte(manifest)) + `"}`
}

// contentOf is what a payload is about: the manifest, or the metadata.
func contentOf(p Payload) (json.RawMessage, error) {
	if p.Type == PropertyBundleObject {
		return p.manifest(new(unpacker))
	}
	return p.Value()
}

func TestPayload(t *testing.T) {
	long := `{"kind":"` + strings.Repeat("x", 10_000) + `"}`
	tests := map[string]struct {
		propertyType, value string
		want                string // the value as kept; that which was given if empty
		content             string // what it is about, or the error
	}{
		"manifest":              {PropertyBundleObject, objectValue(`{"kind": "A"}`), "", `{"kind": "A"}`},
		"long manifest":         {PropertyBundleObject, objectValue(long), "", long},
		"manifest in YAML":      {PropertyBundleObject, objectValue("kind: A\n# comment\n"), "", `{"kind":"A"}`},
		"manifest after a mark": {PropertyBundleObject, objectValue("---\nkind: A\n---\n"), "", `{"kind":"A"}`},
		"more than data":        {PropertyBundleObject, `{"data":"e30=","x":1}`, "", `{}`},
		"space in between":      {PropertyBundleObject, `{ "data" : "e30=" }`, `{"data":"e30="}`, `{}`},
		"base64 with breaks":    {PropertyBundleObject, `{"data":"e30\n="}`, "", `{}`},
		"not base64":            {PropertyBundleObject, `{"data":"e30"}`, "", "property[3]: the value is not an object with data in base64"},
		"several manifests":     {PropertyBundleObject, objectValue("a: 1\n---\nb: 2\n"), "", "property[3]: the manifest is neither JSON nor YAML: a second document begins here"},
		"metadata":              {PropertyCSVMetadata, `{"labels": {"b": "1", "a": "2"}}`, `{"labels":{"a":"2","b":"1"}}`, `{"labels":{"a":"2","b":"1"}}`},
		"metadata, wrong":       {PropertyCSVMetadata, `{"labels":[]}`, "", `{"labels":[]}`},
		"not JSON":              {PropertyCSVMetadata, `{"labels`, "", `{"labels`},
		"nested too deeply":     {PropertyCSVMetadata, strings.Repeat("[", 200) + strings.Repeat("]", 200), "", strings.Repeat("[", 200) + strings.Repeat("]", 200)},
		"manifest not JSON":     {PropertyBundleObject, `{"data`, "", "property[3]: the value is not JSON: the text ends"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := NewPayload(3, Property{Type: test.propertyType, Value: json.RawMessage(test.value)})
			if test.want == "" {
				test.want = test.value
			}
			if value, err := p.Value(); err != nil || string(value) != test.want {
				t.Errorf("value %s (%v), want %s", value, err, test.want)
			}
			content, err := contentOf(p)
			got := string(content)
			if err != nil {
				got = strings.ReplaceAll(err.Error(), ` of type "olm.bundle.object"`, "")
			}
			if !strings.HasPrefix(got, test.content) {
				t.Errorf("content %s, want %s", got, test.content)
			}
		})
	}
}

func TestPayloadIsPacked(t *testing.T) {
	p := NewPayload(0, Property{Type: PropertyBundleObject, Value: json.RawMessage(objectValue(`{"kind":"` + strings.Repeat("x", 100_000) + `"}`))})
	if len(p.data.packed) > 1000 {
		t.Errorf("%d bytes are kept for 100,000 equal ones", len(p.data.packed))
	}
}

func TestBlobKeepsNoMoreThanItNeeds(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("x"), []byte("{}"), bytes.Repeat([]byte("abc"), 10_000)} {
		b := pack(data)
		if cap(b.packed) > len(data)+16 {
			t.Errorf("%d bytes are kept for %d", cap(b.packed), len(data))
		}
		again, err := new(unpacker).unpack(b)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("%.20q becomes %.20q (%v)", data, again, err)
		}
		for i := range again {
			again[i] = '!'
		}
		if third, _ := new(unpacker).unpack(b); !bytes.Equal(third, data) {
			t.Error("who unpacks can change what is packed")
		}
	}
	broken := blob{packed: []byte("x"), size: 2}
	if _, err := new(unpacker).unpack(broken); err == nil {
		t.Error("bytes that were never packed are unpacked")
	}
}

// TestBrokenPayloadIsReported reads manifests whose bytes were damaged after
// the catalog was loaded.
func TestBrokenPayloadIsReported(t *testing.T) {
	x := must.Value(NewIndex(inMemory(0), "sha256:1"))(t)
	b, _ := x.Bundle("a", "a.v1.9.0")
	for i := range x.payloads[bundleKey{"a", "a.v1.9.0"}] {
		x.payloads[bundleKey{"a", "a.v1.9.0"}][i].data = blob{packed: []byte("x"), size: 2}
	}
	want := `of bundle "a.v1.9.0" of package "a" in catalog sha256:1: unpack a property: `
	if _, err := x.Manifests(b); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Manifests: %v, want %s", err, want)
	}
	if _, err := x.CSVMetadata(b); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("CSVMetadata: %v, want %s", err, want)
	}
}

// TestPayloadCSVName: the name of a CSV is known with and without the bytes of its manifest.
func TestPayloadCSVName(t *testing.T) {
	for name, test := range map[string]struct{ manifest, want string }{
		"a CSV":            {`{"kind":"ClusterServiceVersion","metadata":{"name":"a.v1"}}`, "a.v1"},
		"in YAML":          {"kind: ClusterServiceVersion\nmetadata: {name: a.v1}\n", "a.v1"},
		"without a name":   {`{"kind":"ClusterServiceVersion"}`, ""},
		"another kind":     {`{"kind":"ConfigMap","metadata":{"name":"ClusterServiceVersion"}}`, ""},
		"of another shape": {`{"kind":"ClusterServiceVersion","metadata":[]}`, ""},
	} {
		text := `{"schema":"olm.bundle","name":"b","package":"p","properties":[{"type":"olm.bundle.object","value":` + objectValue(test.manifest) + `}]}`
		for _, o := range []LoadOptions{{}, {DropPayloads: true}} {
			c := must.Value(Load(t.Context(), fstest.MapFS{"c.json": {Data: []byte(text)}}, o))(t)
			if got := c.Bundles[0].Payloads[0].CSVName(); got != test.want {
				t.Errorf("%s (%+v): %q, want %q", name, o, got, test.want)
			}
		}
	}
}
