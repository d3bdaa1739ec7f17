package rollout

import (
	"encoding/json"
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
