package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
	kyaml "sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// TestGolden renders the bundles of testdata. Each archive holds the files of a bundle under in/ and what is made of
// it under want/.
func TestGolden(t *testing.T) {
	golden.Each(t, "testdata/*.txtar", func(t *testing.T, archive *golden.Archive) {
		in, files := fstest.MapFS{}, archive.Without("want/")
		for _, f := range files {
			if name, ok := strings.CutPrefix(f.Name, "in/"); ok {
				in[name] = &fstest.MapFile{Data: f.Data}
			}
		}
		got := renderGolden(t, in)
		archive.Compare(t, append(files, got...))
		must.Equal(t, "rendering it again gives other bytes", renderGolden(t, in), got)
	})
}

func renderGolden(t *testing.T, in fs.FS) []txtar.File {
	t.Helper()
	b := must.Value(Load(in))(t)
	var out bytes.Buffer
	for _, warning := range b.Warnings {
		fmt.Fprintln(&out, warning)
	}
	for _, finding := range Validate(b) {
		fmt.Fprintln(&out, finding)
	}
	return []txtar.File{
		{Name: "want/findings.txt", Data: out.Bytes()},
		{Name: "want/catalog.txt", Data: catalogText(t, b)},
		{Name: "want/steps.yaml", Data: stepsText(t, b)},
		{Name: "want/running.yaml", Data: runningText(t, b)},
	}
}

func catalogText(t *testing.T, b *Bundle) []byte {
	t.Helper()
	c := must.Value(b.ToCatalog("registry.example.com/bundles/" + b.Package + ":v1"))(t)
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s of package %s from %s\n", c.Schema, c.Name, c.Package, c.Image)
	for _, property := range c.Properties {
		fmt.Fprintf(&out, "%s %s\n", property.Type, property.Value)
	}
	for _, image := range c.RelatedImages {
		fmt.Fprintf(&out, "image %q %s\n", image.Name, image.Image)
	}
	return out.Bytes()
}

func stepsText(t *testing.T, b *Bundle) []byte {
	t.Helper()
	properties := must.Value(b.AllProperties())(t)
	steps := must.Value(PlanSteps(b, StepTarget{Namespace: "operators", Replaces: "installed.v0.1.0", Properties: properties}))(t)
	var out bytes.Buffer
	for _, step := range steps {
		fmt.Fprintf(&out, "--- # step %s\n%s", step.Kind, yamlText(t, step.Object.Object))
	}
	return out.Bytes()
}

// runningText is what the ClusterServiceVersion becomes once it is installed.
func runningText(t *testing.T, b *Bundle) []byte {
	t.Helper()
	csv := b.CSV.DeepCopy()
	csv.Namespace, csv.UID = "operators", "00000000-0000-0000-0000-000000000000"
	certs := map[string]ServingCert{}
	for _, name := range ServingDeployments(csv) {
		certs[name] = ServingCert{CA: []byte("authority")}
	}
	o := WebhookOptions{Certs: certs}
	deployments, err1 := Deployments(csv, DeploymentOptions{Certs: certs})
	services, err2 := Services(csv)
	validating, err3 := ValidatingWebhooks(csv, o)
	mutating, err4 := MutatingWebhooks(csv, o)
	conversions, err5 := Conversions(csv, o)
	must.NoError(t, errors.Join(err1, err2, err3, err4, err5))
	var out bytes.Buffer
	for _, list := range [][]any{anys(deployments), anys(services), anys(validating), anys(mutating), anys(conversions)} {
		for _, object := range list {
			fmt.Fprintf(&out, "---\n%s", yamlText(t, object))
		}
	}
	return out.Bytes()
}

func anys[T any](list []T) []any {
	out := make([]any, 0, len(list))
	for _, item := range list {
		out = append(out, item)
	}
	return out
}

func yamlText(t *testing.T, v any) []byte {
	t.Helper()
	return must.Value(kyaml.Marshal(v))(t)
}
