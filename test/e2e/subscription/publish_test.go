package subscription

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// publish pushes a catalog and the bundles that it names: publish NAME FILE. The file is a file-based catalog; each bundle without image
// gets one, made from its properties. Properties of type test say what is wrong with a bundle: "no image", "cannot be applied" (an object
// that the API server refuses for ever) or "fails" (its Deployment is refused, so that the operator fails).
func publish(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	for i, document := range strings.Split(os.Expand(ts.ReadFile(args[1]), ts.Getenv), "\n---\n") {
		var meta map[string]any
		if err := yaml.Unmarshal([]byte(document), &meta); err != nil {
			ts.Fatalf("document %d of %s: %v", i, args[1], err)
		}
		if meta["schema"] == catalog.SchemaBundle {
			push(ts, args[0], meta)
		}
		text, err := json.Marshal(meta)
		ts.Check(err)
		out.Write(append(text, '\n'))
	}
	ref := ts.Getenv("REGISTRY") + "/" + ts.Getenv("NS") + "/" + args[0] + ":latest"
	pushFiles(ts, ref, map[string][]byte{"configs/catalog.json": out.Bytes()}, image.CatalogLabels())
}

func pushFiles(ts *testscript.TestScript, ref string, files map[string][]byte, labels map[string]string) {
	tree, err := image.Files(files)
	ts.Check(err)
	_, err = image.Push(context.Background(), ref, tree, labels, image.PushOptions{})
	ts.Check(err)
}

// facts are what the properties of a bundle say.
type facts struct {
	pkg, version   string
	owned, require []map[string]any
	wrong          string
}

func factsOf(ts *testscript.TestScript, meta map[string]any) facts {
	var f facts
	var bundle struct {
		Properties []struct {
			Type  string
			Value json.RawMessage
		}
	}
	text, err := json.Marshal(meta)
	ts.Check(err)
	ts.Check(json.Unmarshal(text, &bundle))
	for _, p := range bundle.Properties {
		var v struct{ PackageName, Version, Group, Kind string }
		if p.Type == "test" {
			ts.Check(json.Unmarshal(p.Value, &f.wrong))
			continue
		}
		if err := json.Unmarshal(p.Value, &v); err != nil {
			continue // of no interest here
		}
		api := map[string]any{"name": strings.ToLower(v.Kind) + "s." + v.Group, "version": v.Version, "kind": v.Kind}
		switch p.Type {
		case catalog.PropertyPackage:
			f.pkg, f.version = v.PackageName, v.Version
		case catalog.PropertyGVK:
			f.owned = append(f.owned, api)
		case catalog.PropertyGVKRequired:
			f.require = append(f.require, api)
		}
	}
	return f
}

// push makes and pushes the image of a bundle, and names it in the catalog.
func push(ts *testscript.TestScript, from string, meta map[string]any) {
	f := factsOf(ts, meta)
	ref := fmt.Sprintf("%s/%s/%s-%s-bundle:v%s", ts.Getenv("REGISTRY"), ts.Getenv("NS"), from, f.pkg, f.version)
	meta["image"] = ref
	if f.wrong == "no image" {
		return
	}
	labels := image.BundleLabels(f.pkg, []string{"stable"}, "stable")
	annotations, err := json.Marshal(map[string]any{"annotations": labels})
	ts.Check(err)
	name := meta["name"]
	app := map[string]any{"app": f.pkg}
	selector := app
	if f.wrong == "fails" {
		selector = map[string]any{"app": "another"}
	}
	csv, err := json.Marshal(map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"displayName": f.pkg, "version": f.version,
			"customresourcedefinitions": map[string]any{"owned": f.owned, "required": f.require},
			"installModes":              []any{map[string]any{"type": "AllNamespaces", "supported": true}},
			"install": map[string]any{"strategy": "deployment", "spec": map[string]any{"deployments": []any{map[string]any{"name": f.pkg, "spec": map[string]any{
				"replicas": 1, "selector": map[string]any{"matchLabels": selector},
				"template": map[string]any{"metadata": map[string]any{"labels": app}, "spec": map[string]any{
					"containers": []any{map[string]any{"name": "operator", "image": "registry.example.com/" + f.pkg + ":" + f.version}}}},
			}}}}},
		},
	})
	ts.Check(err)
	files := map[string][]byte{"manifests/csv.json": csv, "metadata/annotations.json": annotations}
	for _, api := range f.owned {
		files["manifests/"+api["name"].(string)+".json"] = crd(api)
	}
	if f.wrong == "cannot be applied" {
		files["manifests/bad.json"] = []byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"bad"},"spec":{"ports":[{"port":99999}]}}`)
	}
	pushFiles(ts, ref, files, labels)
}

func crd(api map[string]any) []byte {
	plural, group, _ := strings.Cut(api["name"].(string), ".")
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%[1]q},"spec":{"group":%[2]q,"scope":"Namespaced",
		"names":{"plural":%[3]q,"singular":%[4]q,"kind":%[5]q},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`,
		api["name"], group, plural, strings.ToLower(api["kind"].(string)), api["kind"])
}
