package preview

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/test/must"
)

func parsedObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: must.Parse[map[string]any](t, text)}
}

const deploymentBefore = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ops, name: web}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - {name: web, image: "a:1", args: [--one, --two], env: [{name: A, value: x}]}
      - {name: side, image: "s:1"}
`

const deploymentAfter = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ops, name: web}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - {name: web, image: "a:2", args: [--one, --three], env: [{name: A, value: x}, {name: B, value: z}]}
`

// TestPlanWithValues: changed fields with their values, as deep as they differ, and what becomes of all objects.
func TestPlanWithValues(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {namespace: ops, name: key, annotations: {last: %[1]s}}, data: {key: %[1]s}, type: Opaque}"
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ops, name: text}, data: {a.conf: %q}}"
	same := "{apiVersion: v1, kind: Service, metadata: {namespace: ops, name: same}}"
	now := []*unstructured.Unstructured{parsedObject(t, deploymentBefore), parsedObject(t, fmt.Sprintf(secret, "c2VjcmV0")), parsedObject(t, fmt.Sprintf(text, "one\ntwo\nthree\n")), parsedObject(t, same),
		parsedObject(t, "{apiVersion: v1, kind: Service, metadata: {namespace: ops, name: gone}}")}
	wanted := []*unstructured.Unstructured{parsedObject(t, deploymentAfter), parsedObject(t, fmt.Sprintf(secret, "b3RoZXI=")), parsedObject(t, fmt.Sprintf(text, "one\ntwo and a half\nthree\n")), parsedObject(t, same),
		parsedObject(t, "{apiVersion: v1, kind: Service, metadata: {namespace: ops, name: new}}")}
	p := &ExtensionPlan{Extension: "web", Values: true}
	p.compare(now, wanted)
	must.Equal(t, "totals", *p.Totals, Totals{Created: 1, Changed: 3, Deleted: 1, Unchanged: 1})
	var out strings.Builder
	must.NoError(t, p.Write(&out))
	must.Contain(t, "text", out.String(), `
changed:
  ConfigMap ops/text
    .data.a.conf:
        one
      - two
      + two and a half
        three
  Deployment ops/web
    .spec.replicas: 1 -> 2
    .spec.template.spec.containers[name=side]:
      - image: s:1
      - name: side
    .spec.template.spec.containers[name=web].args:
        - --one
      - - --two
      + - --three
    .spec.template.spec.containers[name=web].env[name=B]:
      + name: B
      + value: z
    .spec.template.spec.containers[name=web].image: a:1 -> a:2
  Secret ops/key
    .data.key: (not shown) -> (not shown)
    .metadata.annotations.last: (not shown) -> (not shown)
`, "\n6 objects: 1 created, 3 changed, 1 deleted, 1 unchanged\n")
	must.Lack(t, "text", out.String(), "c2VjcmV0", "b3RoZXI=")
	p.Values = false
	out.Reset()
	must.NoError(t, p.Write(&out))
	must.Contain(t, "text without values", out.String(), "  Deployment ops/web: .spec.replicas, .spec.template.spec.containers\n")
}

// TestChanges at the edges of lists and values.
func TestChanges(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		want          []string // paths
	}{
		"nothing":                       {"a: 1", "a: 1.0", nil},
		"a field that comes":            {"a: 1", "{a: 1, b: 2}", []string{".b"}},
		"another order, and a field":    {"a: [{name: x}, {name: z}]", "a: [{name: z}, {name: x, b: 1}]", []string{".a", ".a[name=x].b"}},
		"another order of names":        {"a: [{name: x}, {name: z}]", "a: [{name: z}, {name: x}]", []string{".a"}},
		"a list without names":          {"a: [{x: 1}]", "a: [{x: 2}]", []string{".a"}},
		"a list with a name twice":      {"a: [{name: x}, {name: x, b: 1}]", "a: [{name: x}, {name: x, b: 2}]", []string{".a"}},
		"a list that becomes empty":     {"a: [{name: x}]", "a: []", []string{".a"}},
		"a field that becomes a list":   {"a: {name: x}", "a: [{name: x}]", []string{".a"}},
		"a value that becomes a field":  {"a: 1", "a: {b: 1}", []string{".a"}},
		"an item, and a field in it":    {"a: [{name: x, b: 1}]", "a: [{name: x, b: 2}, {name: z}]", []string{".a[name=x].b", ".a[name=z]"}},
		"a list that becomes a mixture": {"a: [{name: x}]", "a: [{name: x}, 1]", []string{".a"}},
	} {
		var got []string
		for _, c := range changes("", any(must.Parse[map[string]any](t, test.before)), any(must.Parse[map[string]any](t, test.after))) {
			got = append(got, c.Path)
		}
		must.Equal(t, name, got, test.want)
	}
	for want, totals := range map[string]Totals{"no objects": {}, "1 object: 1 created": {Created: 1}, "3 objects: 1 deleted, 2 unchanged": {Deleted: 1, Unchanged: 2}} {
		must.Equal(t, "totals", totals.String(), want)
	}
}
