package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// seeds are the files of the archives in testdata.
func seeds(f *testing.F, suffix string) {
	f.Helper()
	for _, name := range archives(f) {
		archive := must.Value(txtar.ParseFile(name))(f)
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, suffix) && len(file.Data) < 1<<12 {
				f.Add(file.Data)
			}
		}
	}
}

var smallLimits = Limits{FileBytes: 1 << 16, DocumentBytes: 1 << 14, Documents: 50, Depth: 20, Aliases: 20, Items: 100, Problems: 10}

func FuzzLoadYAML(f *testing.F) {
	seeds(f, ".yaml")
	f.Fuzz(func(t *testing.T, text []byte) { checkLoad(t, "a.yaml", text) })
}

func FuzzLoadJSON(f *testing.F) {
	seeds(f, ".json")
	f.Add(written(f, WriteJSON, inMemory(0)))
	f.Fuzz(func(t *testing.T, text []byte) { checkLoad(t, "dir/a.json", text) })
}

// checkLoad checks what holds for any content: it is loaded in the same way
// however many workers there are, every problem has a place, the index can be
// made and read, and what was loaded is written and read without a loss.
func checkLoad(t *testing.T, name string, text []byte) {
	fsys := files(map[string]string{name: string(text)})
	c, err := Load(context.Background(), fsys, LoadOptions{Limits: smallLimits, Workers: 1})
	other, otherErr := Load(context.Background(), fsys, LoadOptions{Limits: smallLimits, Workers: 3})
	if (err == nil) != (otherErr == nil) || err != nil && err.Error() != otherErr.Error() {
		t.Fatalf("one worker: %v\nthree workers: %v", err, otherErr)
	}
	var invalid *InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatalf("error %v is not an *InvalidError", err)
	}
	first := written(t, WriteJSON, c)
	if !bytes.Equal(first, written(t, WriteJSON, other)) {
		t.Fatal("three workers load something else than one")
	}
	x := must.Value(NewIndex(c, ""))(t)
	for _, p := range x.Problems() {
		if p.Position.File != name || p.Message == "" || p.Rule == "" {
			t.Errorf("a problem without a place, a message or a rule: %+v", p)
		}
	}
	var out bytes.Buffer
	dump(t, &out, x)

	again, err := Load(context.Background(), files(map[string]string{"b.yaml": string(written(t, WriteYAML, c))}), LoadOptions{})
	must.NoErrorf(t, err, "what was written cannot be read")
	if diff := cmp.Diff(string(first), string(written(t, WriteJSON, again))); diff != "" {
		t.Fatalf("what was written is read as something else:\n%s", diff)
	}
}

// csvMetadataType is the value of an olm.csv.metadata as encoding/json would
// read it, to hold csvMetadataShape against.
type csvMetadataType struct {
	Annotations, Labels      map[string]string
	APIServiceDefinitions    apiDescriptions
	CRDDescriptions          apiDescriptions
	Description, DisplayName string
	Maturity, MinKubeVersion string
	InstallModes             []struct {
		Type      string
		Supported bool
	}
	Keywords    []string
	Links       []struct{ Name, URL string }
	Maintainers []struct{ Name, Email string }
	NativeAPIs  []GVK
	Provider    struct{ Name, URL string }
}

type apiDescriptions struct{ Owned, Required []apiDescription }

type apiDescription struct {
	Group, Version, Kind, Name, DisplayName, Description, DeploymentName string
	ContainerPort                                                        json.Number
	Resources                                                            []struct{ Name, Kind, Version string }
	SpecDescriptors, StatusDescriptors, ActionDescriptors                []struct {
		Path, DisplayName, Description string
		XDescriptors                   []string `json:"x-descriptors"`
		Value                          json.RawMessage
	}
}

// FuzzProperty puts any property into a bundle. A value of a known type is
// accepted if and only if encoding/json can read it as that type.
func FuzzProperty(f *testing.F) {
	for _, p := range []Property{
		{PropertyPackage, json.RawMessage(`{"packageName":"p","version":"1.0.0","release":"1"}`)},
		{PropertyPackageRequired, json.RawMessage(`{"packageName":"q","versionRange":">=1.0.0 <2.0.0 || 3.x"}`)},
		{PropertyGVK, json.RawMessage(`{"group":"g","version":"v1","kind":"K"}`)},
		{PropertyGVKRequired, json.RawMessage(`{"group":"g","version":1}`)},
		{PropertyConstraint, json.RawMessage(`{"cel":{"rule":"true"}}`)},
		{PropertyDeprecated, json.RawMessage(`{}`)},
		{PropertyBundleObject, json.RawMessage(`{"data":"e30="}`)},
		{PropertyBundleObject, json.RawMessage(`{"data":"YTogW2I="}`)},
		{PropertyCSVMetadata, json.RawMessage(`{"annotations":{"a":null},"crdDescriptions":{"owned":[{"specDescriptors":[{"x-descriptors":["a"]}]}]}}`)},
		{PropertyCSVMetadata, json.RawMessage(`{"installModes":[{"supported":"true"}],"links":[{"URL":1}]}`)},
		{"other", json.RawMessage(`{`)},
		{"", nil},
	} {
		f.Add(p.Type, []byte(p.Value))
	}
	f.Fuzz(func(t *testing.T, propertyType string, value []byte) {
		c := inMemory(0)
		c.Bundles[0].Image = "example.com/image"
		c.Bundles[0].Properties = append(c.Bundles[0].Properties[1:4:4], Property{propertyType, value})
		x := must.Value(NewIndex(c, ""))(t)
		b, accepted := x.Bundle(c.Bundles[0].Package, c.Bundles[0].Name)
		if accepted != (len(x.Problems().Errors()) == 0) {
			t.Errorf("served: %v, but problems: %v", accepted, x.Problems())
		}
		if accepted && (!json.Valid(value) || propertyType == "" || propertyType == PropertyPackage) {
			t.Errorf("a property of type %q with the value %q is accepted", propertyType, value)
		}
		if propertyType == PropertyCSVMetadata && json.Valid(value) && bytes.Count(value, []byte("["))+bytes.Count(value, []byte("{")) < 100 {
			if err := json.Unmarshal(value, &csvMetadataType{}); (err == nil) != accepted {
				t.Errorf("%s: accepted %v, but encoding/json says %v", value, accepted, err)
			}
		}
		if accepted {
			if _, err := x.Manifests(b); err != nil {
				t.Errorf("manifests: %v", err)
			}
			if _, err := x.CSVMetadata(b); err != nil {
				t.Errorf("metadata: %v", err)
			}
		}
	})
}
