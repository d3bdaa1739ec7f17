package bundle

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInspectGoesOn shows that everything wrong with the files is found at once, with its file.
func TestInspectGoesOn(t *testing.T) {
	in := Inspect(bundleFiles(map[string]string{
		"metadata/d.yaml":         "dependencies: [a]",
		"manifests/.hidden":       "x",
		"manifests/more/x.yaml":   "x: 1",
		"manifests/a.yaml":        "a: [",
		"manifests/b.yaml":        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}",
		"manifests/second.yaml":   testCSVYAML,
		"manifests/values.yaml":   "replicas: 1",
		"manifests/z-secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: x}",
	}))
	var got []string
	for _, p := range in.Problems {
		got = append(got, p.File)
	}
	if diff := cmp.Diff([]string{"metadata/d.yaml", "manifests/a.yaml", "manifests/b.yaml", "manifests/second.yaml"}, got); diff != "" {
		t.Errorf("problems in (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"manifests/.hidden", "manifests/more"}, in.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	if len(in.Notices) != 2 || in.Notices[1].File != "manifests/values.yaml" {
		t.Errorf("notices %v", in.Notices)
	}
	if in.Bundle.CSV == nil || len(in.Bundle.Objects) != 2 || in.Bundle.Package != "op" {
		t.Errorf("what could be read: %+v", in.Bundle)
	}
}

func TestInspectSaysWhatAProblemIsAbout(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  error
	}{
		"metadata":    {map[string]string{"metadata/annotations.yaml": ""}, ErrNoMetadata},
		"annotations": {map[string]string{"metadata/annotations.yaml": "x: 1"}, ErrNoAnnotations},
		"media type":  {map[string]string{"metadata/annotations.yaml": strings.Replace(testAnnotationsYAML, "registry+v1", "helm", 1)}, ErrMediaType},
		"manifests":   {map[string]string{"manifests/csv.yaml": "", "manifests/things.crd.yaml": ""}, ErrNoManifests},
		"no files":    {map[string]string{"manifests/csv.yaml": "", "manifests/things.crd.yaml": "", "manifests/.x": "x"}, ErrNoCSV},
		"CSV":         {map[string]string{"manifests/csv.yaml": ""}, ErrNoCSV},
		"second CSV":  {map[string]string{"manifests/x.yaml": testCSVYAML}, ErrSecondCSV},
		"form of CSV": {map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, "version: 1.0.0", "version: one", 1)}, ErrCSVForm},
		"kind":        {map[string]string{"manifests/x.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}"}, ErrUnsupportedKind},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := Inspect(bundleFiles(tc.files))
			if len(in.Problems) != 1 || !errors.Is(in.Problems[0].Err, tc.want) {
				t.Errorf("problems %v, want one about %v", in.Problems, tc.want)
			}
		})
	}
}

func TestInspectFindsLines(t *testing.T) {
	in := Inspect(bundleFiles(map[string]string{"metadata/d.yaml": "x: 1\ndependencies: {a: b}"}))
	var at *LineError
	if len(in.Problems) != 1 || !errors.As(in.Problems[0].Err, &at) || at.Line != 2 {
		t.Errorf("problems %v, want one in line 2", in.Problems)
	}
}

func TestInspectManifests(t *testing.T) {
	in := InspectManifests([]json.RawMessage{json.RawMessage(`{`), json.RawMessage(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`)})
	if len(in.Problems) != 1 || in.Problems[0].File != "inline/0.json" || len(in.Bundle.Objects) != 1 || in.ManifestsDir != "" {
		t.Errorf("%+v", in)
	}
}
