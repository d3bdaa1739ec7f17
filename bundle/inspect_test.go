package bundle

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
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
	must.Equal(t, "problems in", got, []string{"metadata/d.yaml", "manifests/a.yaml", "manifests/b.yaml", "manifests/second.yaml"})
	must.Equal(t, "ignored", in.Ignored, []string{"manifests/.hidden", "manifests/more"})
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

func TestDetectMediaType(t *testing.T) {
	chart := File{Name: "manifests/Chart.yaml", Data: []byte("apiVersion: v2\nname: x\nversion: 1.0.0\n")}
	csv := File{Name: "manifests/csv.yaml", Data: []byte(testCSVYAML)}
	service := File{Name: "manifests/service.yaml", Data: []byte("apiVersion: v1\nkind: Service\nmetadata: {name: x}")}
	tests := map[string]struct {
		files []File
		want  string
	}{
		"a chart":                     {[]File{service, chart, csv}, MediaTypeHelm},
		"a chart without version":     {[]File{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: x\n")}}, MediaTypePlain},
		"a ClusterServiceVersion":     {[]File{service, csv}, MediaType},
		"other objects":               {[]File{service, {Name: "broken.yaml", Data: []byte("a: [")}}, MediaTypePlain},
		"no YAML":                     {[]File{{Name: "README.md", Data: []byte("hello: you")}}, ""},
		"nothing but broken YAML":     {[]File{{Name: "broken.yaml", Data: []byte("a: [")}}, ""},
		"a list is nothing to deploy": {[]File{{Name: "list.yaml", Data: []byte("[a]")}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := DetectMediaType(tc.files)
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q, %t, want %q", got, ok, tc.want)
			}
		})
	}
}

// TestHostileQuantities: reading them would take minutes and more.
func TestHostileQuantities(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a tiny one":         {"1e-999999999", `limits.cpu: "1e-999999999" is too small for a number; write 0`},
		"a long one":         {"0." + strings.Repeat("9", 2_000_000), "limits.cpu: a number of 2000002 characters"},
		"a large exponent":   {"1e999999999", ""},
		"a usual one":        {"1e-3", ""},
		"a suffix":           {"100m", ""},
		"something too long": {strings.Repeat("x", 2000), "ClusterServiceVersion op.v1.0.0 does not have the form of its kind"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			csv := strings.Replace(testCSVYAML, "              - {", "              - {resources: {limits: {cpu: '"+test.text+"'}}, ", 1)
			if csv == testCSVYAML {
				t.Fatal("the test bundle has other containers than expected")
			}
			begin := time.Now()
			err := inspect(bundleFiles(map[string]string{"manifests/csv.yaml": csv}), defaultLimits).err()
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %.300v, want %q", err, test.want)
			}
		})
	}
}

func TestIcon(t *testing.T) {
	tests := map[string]struct {
		icons []v1alpha1.Icon
		want  *catalog.Icon
	}{
		"none":                          {nil, nil},
		"lines are joined":              {[]v1alpha1.Icon{{Data: "aWNv\n  bg==\n", MediaType: "image/png"}}, &catalog.Icon{Data: []byte("icon"), MediaType: "image/png"}},
		"what is broken is passed over": {[]v1alpha1.Icon{{Data: "<svg/>"}, {Data: ""}, {Data: "aWNvbg==", MediaType: "image/gif"}}, &catalog.Icon{Data: []byte("icon"), MediaType: "image/gif"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := &Bundle{CSV: &v1alpha1.ClusterServiceVersion{Spec: v1alpha1.ClusterServiceVersionSpec{Icon: test.icons}}}
			must.Equal(t, "icon", b.Icon(), test.want)
		})
	}
}

// TestDropAggregation: labels by which rights are gathered go, those of Kubernetes and of the author stay.
func TestDropAggregation(t *testing.T) {
	object := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": "r",
			"labels": map[string]any{"olm.opgroup.permissions/aggregate-to-admin": "group", "olm.opgroup.permissions/aggregate-to-0123456789abcdef-edit": "true",
				"operators.fairlead.dev/aggregate-to-manager": "true", "rbac.authorization.k8s.io/aggregate-to-edit": "true", "mine": "stays"},
			"annotations": map[string]any{"operators.fairlead.dev/providers": "ns/op.v1=uid/plan", "mine": "stays"}}}}
	}
	role := object("ClusterRole")
	DropAggregation(role)
	must.Equal(t, "labels", role.GetLabels(), map[string]string{"rbac.authorization.k8s.io/aggregate-to-edit": "true", "mine": "stays"})
	must.Equal(t, "annotations", role.GetAnnotations(), map[string]string{"mine": "stays"})
	other, bare := object("ConfigMap"), &unstructured.Unstructured{Object: map[string]any{"kind": "ClusterRole"}}
	DropAggregation(other)
	DropAggregation(bare)
	if diff := cmp.Diff(object("ConfigMap"), other); diff != "" || len(bare.Object) != 1 {
		t.Errorf("other objects: %s%v", diff, bare.Object)
	}
	for name, stays := range map[string]bool{"fairlead-manager-custom-resources:things.example.com": false, "mine": true} {
		gathers := object("ClusterRole")
		gathers.SetName(name)
		gathers.Object["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{map[string]any{}}}
		DropAggregation(gathers)
		if _, ok := gathers.Object["aggregationRule"]; ok != stays {
			t.Errorf("ClusterRole %s has an aggregationRule: %t", name, ok)
		}
	}
}
