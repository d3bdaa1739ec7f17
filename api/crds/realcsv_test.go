package crds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// realCSVs reads the ClusterServiceVersions of the public bundles, by file name.
func realCSVs(t *testing.T) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for name, tree := range publicdata.BundleTrees(t) {
		for file, content := range tree {
			if path.Dir(file) != "manifests" || !bytes.Contains(content.Data, []byte(v1alpha1.ClusterServiceVersionKind)) {
				continue
			}
			var obj map[string]any
			must.NoErrorf(t, yaml.Unmarshal(content.Data, &obj), "%s/%s", name, file)
			if obj["kind"] == v1alpha1.ClusterServiceVersionKind {
				obj["apiVersion"] = v1alpha1.GroupVersion.String() // one package names a group of its own
				found[path.Join(name, file)] = obj
			}
		}
	}
	return found
}

// TestRealCSVs: what is published is admitted, and no field of it is lost, neither to the schema nor to the Go types.
func TestRealCSVs(t *testing.T) {
	csvs := realCSVs(t)
	if len(csvs) < 100 {
		t.Fatalf("found %d ClusterServiceVersions, want at least 100", len(csvs))
	}
	for name, csv := range csvs {
		t.Run(name, func(t *testing.T) {
			want := normal(t, csv)
			_, unknown, errs := admit(t, want)
			for _, path := range unknown {
				if !isStray(path) {
					t.Errorf("the field %s is lost", path)
				}
			}
			for _, err := range errs {
				t.Error(err)
			}
			typed := v1alpha1.ClusterServiceVersion{}
			convert(t, want, &typed)
			var got map[string]any
			convert(t, typed, &got)
			for path, change := range missing("", want, got) {
				if !isStray(path) {
					t.Errorf("%s: %s", path, change)
				}
			}
		})
	}
}

// strays are the ends of paths that some published operators hold by mistake, and that are fields of no API: a name in
// upper case, the contact beside the annotations, a Service's spec in that of a Deployment.
var strays = []string{
	"spec.MinKubeVersion", "spec.support", ".Kind", "deployments[0].spec.ports", "deployments[0].spec.selector.app.kubernetes.io/name",
}

func isStray(path string) bool {
	return slices.ContainsFunc(strays, func(stray string) bool { return strings.HasSuffix(path, stray) })
}

// normal gives an object the numbers that JSON decoding gives it.
func normal(t *testing.T, obj map[string]any) map[string]any {
	t.Helper()
	data := must.Value(json.Marshal(obj))(t)
	var out map[string]any
	decode(t, data, &out)
	return out
}

// missing is what want has and got has not, by path. Nulls and empty values may go, because they say nothing.
func missing(at string, want, got any) map[string]string {
	lost := map[string]string{}
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		if !ok && !isEmpty(want) {
			lost[at] = fmt.Sprintf("%v became %v", want, got)
			break
		}
		for name, value := range want {
			maps.Copy(lost, missing(strings.TrimPrefix(at+"."+name, "."), value, fields[name]))
		}
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			lost[at] = fmt.Sprintf("%d items became %d", len(want), len(items))
			break
		}
		for i := range want {
			maps.Copy(lost, missing(fmt.Sprintf("%s[%d]", at, i), want[i], items[i]))
		}
	default:
		if !cmp.Equal(want, got) && (got != nil || !isEmpty(want)) {
			lost[at] = fmt.Sprintf("%v became %v", want, got)
		}
	}
	return lost
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			if !isEmpty(field) {
				return false
			}
		}
		return true
	case []any:
		return len(value) == 0
	default:
		return value == nil || value == "" || value == false || value == int64(0)
	}
}
