package install

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// config is the directory of the manifests.
const config = "../../config"

// objects decodes the YAML documents of a text.
func objects(t *testing.T, name string, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var content map[string]any
		if err := yaml.UnmarshalStrict(document, &content); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, document)
		}
		if len(content) > 0 {
			all = append(all, &unstructured.Unstructured{Object: content})
		}
	}
}

// kustomized returns the objects that a kustomization names, in its order, and checks that it names all that there is beside it.
func kustomized(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var k struct {
		APIVersion, Kind string
		Resources        []string
		Images           []struct{ Name, NewName, NewTag string }
	}
	if err := yaml.UnmarshalStrict(data, &k); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "kustomization.yaml" && !slices.Contains(k.Resources, name) {
			t.Errorf("%s is not among the resources of the kustomization", file)
		}
	}
	var all []*unstructured.Unstructured
	for _, name := range k.Resources {
		file := filepath.Join(dir, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, image := range k.Images {
			if !strings.Contains(string(text), "image: "+image.Name+":") {
				continue
			}
			text = bytes.ReplaceAll(text, []byte("image: "+image.Name+":latest"), []byte("image: "+image.NewName+":"+image.NewTag))
		}
		all = append(all, objects(t, file, text)...)
	}
	return all
}

// apply does what kubectl apply --server-side does.
func apply(ctx context.Context, t *testing.T, c client.Client, all []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range all {
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership)
		if err != nil {
			t.Fatalf("apply %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}
