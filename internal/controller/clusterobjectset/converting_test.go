package clusterobjectset

import (
	"fmt"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// converted is a definition that a Service converts for, with the authority of an injector where there is none of our own.
func converted(t testing.TB, service, ca string) *unstructured.Unstructured {
	t.Helper()
	if ca != "" {
		ca = ", caBundle: " + ca
	}
	return object(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com, annotations: {cert-manager.io/inject-ca-from: ns/%[1]s-cert}}
spec:
  group: example.com
  names: {plural: things, kind: Thing}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: ns, name: %[1]s}%[2]s}}}
`, service, ca))
}

// convertedBy is the Service, the authorities and where those come from.
func (w *world) convertedBy() string {
	w.Helper()
	crd := w.definition()
	config := crd.Spec.Conversion.Webhook.ClientConfig
	return fmt.Sprintf("%s %s %s", config.Service.Name, config.CABundle, crd.Annotations[injection])
}

// TestAnotherConverter takes over when everything else of its revision is available; as long as the one before runs, that one converts. Then the
// servers of the revision before stay a while.
func TestAnotherConverter(t *testing.T) {
	yes, no := true, false
	for name, test := range map[string]struct {
		ready     *bool // of the server before
		before    string
		meanwhile string
	}{
		"the one before runs":         {&yes, "b2xk", "old old ns/old-cert"},
		"the one before does not say": {nil, "b2xk", "old old ns/old-cert"},
		"the one before is down":      {&no, "b2xk", "new new ns/new-cert"},
		"an injector writes":          {&yes, "", "old inj ns/old-cert"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "old-1", Labels: map[string]string{discoveryv1.LabelServiceName: "old"}},
				Endpoints: []discoveryv1.Endpoint{{Conditions: discoveryv1.EndpointConditions{Ready: test.ready}}}})
			next, injected, authority := "bmV3", "", "new"
			if test.before == "" {
				next, injected, authority = "", "inj", "inj"
			}
			w.revise(options(1, converted(t, "old", test.before), service(t, "old"), deployment(t, "op", "op:v1")))
			w.establish()
			if crd := w.definition(); injected != "" {
				crd.Spec.Conversion.Webhook.ClientConfig.CABundle = []byte(injected)
				w.update(crd)
				w.settle()
			}
			w.run("op", true)
			w.settle()
			w.expect("ext-1", "Progressing=True/Succeeded")
			w.run("op", false)
			w.settle()
			w.revise(options(2, converted(t, "new", next), service(t, "new"), deployment(t, "op", "op:v2")))
			w.settle()
			if got := w.convertedBy(); got != test.meanwhile {
				t.Errorf("before its server runs, the definition has %q, want %q", got, test.meanwhile)
			}
			w.expect("ext-2", "Progressing=True/RollingOut")
			writes := len(w.writes)
			w.settle()
			if len(w.writes) != writes {
				t.Errorf("nothing has changed, but: %v", w.writes[writes:])
			}
			w.run("op", true)
			w.settle()
			w.expect("ext-2", "Progressing=True/Succeeded")
			if got, want := w.convertedBy(), fmt.Sprintf("new %s ns/new-cert", authority); got != want {
				t.Errorf("afterwards the definition has %q, want %q", got, want)
			}
			if w.get("Service", "old") == nil {
				t.Error("the server before goes at once")
			}
			if result, err := w.pass("ext-2"); err != nil || result.RequeueAfter != lingering {
				t.Errorf("looked at again after %s, %v", result.RequeueAfter, err)
			}
			w.clock.SetTime(w.clock.Now().Add(lingering + time.Second))
			w.settle()
			w.expect("ext-1", "Progressing=False/Archived")
			if w.get("Service", "old") != nil {
				t.Error("the server before stays")
			}
		})
	}
}
