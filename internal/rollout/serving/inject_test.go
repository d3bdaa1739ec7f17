package serving

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// TestInject: objects that lead to a Service trust its CA bundle, and others stay as they are.
func TestInject(t *testing.T) {
	const service = `{service: {namespace: ns, name: svc}}`
	for name, tc := range map[string]struct {
		object string
		want   int // CA bundles
	}{
		"an APIService":                  {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: ` + service + `}`, 1},
		"a local APIService":             {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: {group: a}}`, 0},
		"two webhooks, one by URL":       {`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: [{clientConfig: ` + service + `}, {clientConfig: {url: u}}, {}, x]}`, 1},
		"two webhooks":                   {`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{clientConfig: ` + service + `}, {clientConfig: ` + service + `}]}`, 2},
		"no webhook":                     {`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration}`, 0},
		"a converted CRD":                {`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {conversion: {webhook: {clientConfig: ` + service + `}}}}`, 1},
		"a CRD":                          {`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {conversion: {strategy: None}}}`, 0},
		"a CRD with a broken conversion": {`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {conversion: x}}`, 0},
		"another Service":                {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: {service: {namespace: ns, name: other}}}`, 0},
		"another namespace":              {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: {service: {namespace: other, name: svc}}}`, 0},
		"another kind":                   {`{apiVersion: example.com/v1, kind: APIService, spec: ` + service + `}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			must.NoError(t, yaml.Unmarshal([]byte(tc.object), &u.Object))
			before := u.DeepCopy()
			out := Inject([]*unstructured.Unstructured{u}, "ns", map[string][]byte{"svc": []byte("ca"), "third": []byte("x")})
			must.Equal(t, "it was changed in place (-want +got", u, before)
			got := Injected(out, "ns", "svc")
			for _, bundle := range got {
				must.Equal(t, "it trusts", string(bundle), "ca")
			}
			if same := cmp.Equal(out[0], before); len(got) != tc.want || same != (tc.want == 0) {
				t.Errorf("it trusts %d CA bundles, want %d; unchanged: %t", len(got), tc.want, same)
			}
		})
	}
}
