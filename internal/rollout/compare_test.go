package rollout

import (
	"encoding/json"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// TestCompare: only fields that are wanted are compared, and values as the API server keeps them.
func TestCompare(t *testing.T) {
	read := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		must.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
		return u
	}
	const service = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: a, port: 80}], selector: {app: op}}}`
	for name, test := range map[string]struct {
		wanted, live string
		is           string // of the live object; empty is the wanted one
	}{
		"as it is": {service, service, ""},
		"defaults and owners": {service, `{apiVersion: v1, kind: Service, metadata: {name: web, uid: u, resourceVersion: "5", labels: {other: x}, ownerReferences: [{name: op, uid: v}]},
			spec: {clusterIP: 10.0.0.1, type: ClusterIP, ports: [{name: a, port: 80, protocol: TCP, targetPort: 80}], selector: {app: op}}, status: {loadBalancer: {}}}`, ""},
		"another value": {service, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: a, port: 81, protocol: TCP}], selector: {app: op}}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: a, port: 81}], selector: {app: op}}}`},
		"a field that is not there": {service, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: a, port: 80}]}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: a, port: 80}]}}`},
		"more items": {service, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: a, port: 80, protocol: TCP}, {name: b, port: 81}], selector: {app: op}}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: a, port: 80, protocol: TCP}, {name: b, port: 81}], selector: {app: op}}}`},
		"a quantity in another notation": {`{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {cpu: 1000m}}}`,
			`{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {cpu: "1"}}}`, ""},
		"what is wanted empty": {`{apiVersion: example.com/v1, kind: Any, metadata: {name: q}, spec: {a: {}, b: [], c: 1}}`,
			`{apiVersion: example.com/v1, kind: Any, metadata: {name: q}, spec: {c: 1}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			wanted, live := read(test.wanted), read(test.live)
			will, is := Compare(clientgoscheme.Scheme, wanted, live)
			text := func(u *unstructured.Unstructured) string { return string(must.Value(json.Marshal(u.Object))(t)) }
			want := text(will)
			if test.is != "" {
				want = text(read(test.is))
			}
			must.Equal(t, "live", text(is), want)
			must.Equal(t, "the wanted object afterwards", text(wanted), text(read(test.wanted)))
			must.Equal(t, "the live object afterwards", text(live), text(read(test.live)))
		})
	}
}

// TestCompareWhatGoes: a field that is wanted no more is a difference where the field managers have it, and no one else; not what the API server has set.
func TestCompareWhatGoes(t *testing.T) {
	const live = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: x, b: y, theirs: z}, annotations: {operators.fairlead.dev/content-hash: h, note: n}%s}, data: {a: x, b: y}}`
	const wanted = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: x}}, data: {a: x}}`
	const stays = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: x}}, data: {a: x}}`
	const goes = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: x, b: y}, annotations: {note: n}}, data: {a: x, b: y}}`
	const fields = `{"f:metadata":{"f:labels":{".":{},"f:a":{},"f:b":{}},"f:annotations":{".":{},"f:operators.fairlead.dev/content-hash":{},"f:note":{}}},"f:data":{".":{},"f:a":{},"f:b":{}}}`
	entry := func(manager, operation, fields string) string {
		return fmt.Sprintf(`{manager: %s, operation: %s, fieldsType: FieldsV1, fieldsV1: %s}`, manager, operation, fields)
	}
	const service = `{apiVersion: v1, kind: Service, metadata: {name: web%s}, spec: {type: ClusterIP, selector: {app: op}, ports: [{port: 80, protocol: TCP, appProtocol: http}]}}`
	const bare = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: op}, ports: [{port: 80}]}}`
	const serving = `{"f:spec":{"f:type":{},"f:selector":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:appProtocol":{}}}}}`
	for name, test := range map[string]struct{ live, entries, wanted, is string }{
		"of the manager":       {live, entry("us", "Apply", fields), wanted, goes},
		"as it was created":    {live, entry("us", "Update", fields), wanted, goes},
		"of its predecessor":   {live, entry("before", "Update", fields), wanted, goes},
		"of no one":            {live, "", wanted, stays},
		"of someone else":      {live, entry("kubectl", "Apply", fields), wanted, stays},
		"of both":              {live, entry("us", "Apply", fields) + ", " + entry("kubectl", "Update", fields), wanted, stays},
		"all data":             {live, entry("us", "Apply", `{"f:data":{".":{},"f:a":{},"f:b":{}}}`), `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: x, b: y}}`},
		"fields of an apply":   {service, entry("us", "Apply", serving), bare, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: ClusterIP, selector: {app: op}, ports: [{port: 80, appProtocol: http}]}}`},
		"defaults of a create": {service, entry("us", "Update", serving), bare, bare},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(text string) *unstructured.Unstructured {
				u := &unstructured.Unstructured{}
				must.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
				return u
			}
			there := read(fmt.Sprintf(test.live, ", managedFields: ["+test.entries+"]"))
			_, is := Compare(clientgoscheme.Scheme, read(test.wanted), there, "us", "before")
			must.Equal(t, "live", string(must.Value(json.Marshal(is.Object))(t)), string(must.Value(json.Marshal(read(test.is).Object))(t)))
		})
	}
}
