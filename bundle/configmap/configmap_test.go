package configmap

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

const prefix = "operators.operatorframework.io.bundle."

func files(changes map[string]string) fstest.MapFS {
	all := map[string]string{
		"manifests/csv.yaml":         "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: op.v1}\n",
		"manifests/a secret.yaml":    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
		"metadata/annotations.yaml":  "annotations:\n  " + prefix + "package.v1: op\n  " + prefix + "channels.v1: '4.10'\n  other: x\n",
		"metadata/dependencies.yaml": "dependencies:\n- {type: olm.label, value: {label: l}}\n",
		"tests/scorecard/x.yaml":     "kind: Configuration\n",
	}
	maps.Copy(all, changes)
	out := fstest.MapFS{}
	for name, text := range all {
		if text != "" {
			out[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return out
}

func TestEncode(t *testing.T) {
	c := must.Value(Encode(files(nil), Options{SourceImage: "example.com/op:1"}))(t)
	wantAnnotations := map[string]string{prefix + "package.v1": "op", prefix + "channels.v1": "4.10", "olm.sourceImage": "example.com/op:1"}
	must.Equal(t, "annotations", c.Annotations, wantAnnotations)
	if diff := cmp.Diff([]string{"a-secret.yaml", "csv.yaml", "dependencies.yaml"}, slices.Sorted(maps.Keys(c.Data))); diff != "" || len(c.BinaryData) != 0 {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := map[string]struct {
		changes map[string]string
		options Options
		want    string
	}{
		"what is too large":   {nil, Options{Limit: 100}, "bundle files exceeded 100 bytes limit"},
		"two files of a key":  {map[string]string{"manifests/a:secret.yaml": "x: 1"}, Options{}, "have the same key a-secret.yaml"},
		"a file in both":      {map[string]string{"metadata/csv.yaml": "x: 1"}, Options{}, "have the same key csv.yaml"},
		"what is no text":     {map[string]string{"manifests/x": "\xff"}, Options{}, "manifests/x is no text"},
		"no manifests":        {map[string]string{"manifests/csv.yaml": "", "manifests/a secret.yaml": ""}, Options{}, "read directory manifests"},
		"compressed too much": {nil, Options{Limit: 100, Gzip: true}, "exceeded 100 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Encode(files(tc.changes), tc.options)
			must.Fail(t, "Encode", err, tc.want)
		})
	}
}

// back is the bundle out of a ConfigMap, as a tree.
func back(t testing.TB, c *Content) fstest.MapFS {
	t.Helper()
	got := must.Value(Files(c))(t)
	tree := fstest.MapFS{}
	for name, data := range got {
		tree[name] = &fstest.MapFile{Data: data}
	}
	return tree
}

func TestThereAndBack(t *testing.T) {
	for _, zip := range []bool{false, true} {
		t.Run(fmt.Sprintf("gzip %t", zip), func(t *testing.T) {
			c := must.Value(Encode(files(nil), Options{Gzip: zip}))(t)
			got := must.Value(bundle.Load(back(t, c)))(t)
			want := must.Value(bundle.Load(files(nil)))(t)
			sameBundle(t, want, got)
			if diff := cmp.Diff([]string{"4.10"}, got.Channels); diff != "" || len(got.Dependencies) != 1 {
				t.Errorf("channels %v, dependencies %v", got.Channels, got.Dependencies)
			}
		})
	}
}

func sameBundle(t *testing.T, want, got *bundle.Bundle) {
	t.Helper()
	a, err1 := want.ToCatalog("")
	b, err2 := got.ToCatalog("")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("the bundle became another:\n%v\n%v", a, b)
	}
}

// TestRealBundles takes public bundles there and back. Not all of them fit without compression.
func TestRealBundles(t *testing.T) {
	trees := publicdata.BundleTrees(t)
	for i, name := range slices.Sorted(maps.Keys(trees)) {
		if i%10 != 0 {
			continue // one of ten shows as much
		}
		c, err := Encode(trees[name], Options{Gzip: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := must.Value(bundle.Load(trees[name]))(t)
		got, err := bundle.Load(back(t, c))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameBundle(t, want, got)
	}
}

func TestFilesRefuses(t *testing.T) {
	bomb := must.Value(pack(make([]byte, maxFile+1)))(t)
	large := must.Value(pack(make([]byte, maxFile)))(t)
	many, big := map[string]string{}, map[string][]byte{}
	for i := range maxFiles + 1 {
		many[fmt.Sprint(i)] = ""
	}
	for i := range 9 {
		big[fmt.Sprint(i)] = large
	}
	zipped := map[string]string{"olm.contentEncoding": "gzip+base64"}
	tests := map[string]struct {
		content Content
		want    string
	}{
		"nothing":             {Content{}, "holds no files"},
		"too many files":      {Content{Data: many}, "more than 1000 files"},
		"a bomb":              {Content{Annotations: zipped, BinaryData: map[string][]byte{"x": bomb}}, "expand x: it is larger than"},
		"too much in all":     {Content{Annotations: zipped, BinaryData: big}, "its files are larger than"},
		"what is no base64":   {Content{Annotations: zipped, BinaryData: map[string][]byte{"x": []byte("?")}}, "expand x"},
		"what is no gzip":     {Content{Annotations: zipped, BinaryData: map[string][]byte{"x": []byte("aGVsbG8gd29ybGQ=")}}, "expand x"},
		"another encoding":    {Content{Annotations: map[string]string{"olm.contentEncoding": "zip"}, BinaryData: map[string][]byte{"x": nil}}, `is "zip"`},
		"a key twice":         {Content{Data: map[string]string{"x": ""}, BinaryData: map[string][]byte{"x": nil}}, "in data and in binaryData"},
		"a key that leads up": {Content{Data: map[string]string{"..": ""}}, "no name of a file"},
		"a key that is below": {Content{Data: map[string]string{"a/b": ""}}, "no name of a file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Files(&tc.content)
			must.Fail(t, "Files", err, tc.want)
		})
	}
}

func TestAnnotationsInAFileCount(t *testing.T) {
	c := &Content{Annotations: map[string]string{prefix + "package.v1": "other"}, Data: map[string]string{"annotations.yaml": "annotations:\n  a: b\n"}}
	tree := back(t, c)
	if text, err := fs.ReadFile(tree, "metadata/annotations.yaml"); err != nil || !strings.Contains(string(text), "a: b") {
		t.Errorf("%s %v", text, err)
	}
}

// FuzzFiles reads ConfigMaps; every file has a safe name and is of bounded size.
func FuzzFiles(f *testing.F) {
	packed := must.Value(pack([]byte("kind: X")))(f)
	f.Add("csv.yaml", "kind: X", packed, true)
	f.Add("../x", "annotations: {a: b}", []byte("x"), false)
	f.Fuzz(func(t *testing.T, key, text string, binary []byte, zip bool) {
		c := &Content{Annotations: map[string]string{}, Data: map[string]string{key: text}, BinaryData: map[string][]byte{"b": binary}}
		if zip {
			c.Annotations["olm.contentEncoding"] = "gzip+base64"
		}
		got, err := Files(c)
		if err != nil {
			return
		}
		for name, data := range got {
			if !fs.ValidPath(name) || strings.Count(name, "/") != 1 || len(data) > maxFile {
				t.Errorf("%q with %d bytes", name, len(data))
			}
		}
	})
}
