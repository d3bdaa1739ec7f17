package clusterobjectset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/test/must"
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

// server is a Service with ports, the first of which is called https.
func server(t testing.TB, name string, ports ...int) *unstructured.Unstructured {
	u := service(t, name)
	var all []any
	for i, p := range ports {
		all = append(all, map[string]any{"name": []string{"https", "more"}[i], "port": int64(p)})
	}
	u.Object["spec"] = map[string]any{"ports": all}
	return u
}

// endpoints are those of a Service behind one of its ports.
func endpoints(service, port string, all ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: service + "-" + port, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		Ports: []discoveryv1.EndpointPort{{Name: &port}}, Endpoints: all}
}

// convertedBy is the Service, the authorities and where those come from.
func (w *world) convertedBy() string {
	w.Helper()
	crd := w.definition()
	config := crd.Spec.Conversion.Webhook.ClientConfig
	return fmt.Sprintf("%s %s %s", config.Service.Name, config.CABundle, crd.Annotations["cert-manager.io/inject-ca-from"])
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
			w := newWorld(t, endpoints("old", "https", discoveryv1.Endpoint{Conditions: discoveryv1.EndpointConditions{Ready: test.ready}}))
			next, injected, authority := "bmV3", "", "new"
			if test.before == "" {
				next, injected, authority = "", "inj", "inj"
			}
			w.revise(options(1, converted(t, "old", test.before), server(t, "old", 443), deployment(t, "op", "op:v1")))
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
			w.revise(options(2, converted(t, "new", next), server(t, "new", 443), deployment(t, "op", "op:v2")))
			w.settle()
			must.Equal(t, "before its server runs, the definition", w.convertedBy(), test.meanwhile)
			w.expect("ext-2", "Progressing=True/RollingOut")
			writes := w.Made()
			w.settle()
			must.Equal(t, "nothing has changed", w.Made(), writes)
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
			w.Clock.SetTime(w.Clock.Now().Add(lingering + time.Second))
			w.settle()
			w.expect("ext-1", "Progressing=False/Archived")
			if w.get("Service", "old") != nil {
				t.Error("the server before stays")
			}
		})
	}
}

// TestTheSameConverterElsewhere: a Service that keeps its name serves what it did only as long as it keeps the port, and pods of before answer.
// Otherwise every request would fail until the end of a rollout that may need one to be answered.
func TestTheSameConverterElsewhere(t *testing.T) {
	const old, next = "443 /convert", "9443 /convert"
	for name, test := range map[string]struct {
		ports []int  // of the Service of the next revision
		path  string // of its definition
		port  string // of the endpoints
		pod   time.Duration
		want  string
	}{
		"another port":                            {[]int{9443}, "/convert", "https", -time.Hour, next},
		"another port besides":                    {[]int{443, 9443}, "/convert", "https", -time.Hour, old},
		"another port besides, which has no pods": {[]int{443, 9443}, "/convert", "more", -time.Hour, next},
		"another port besides, for new pods":      {[]int{443, 9443}, "/convert", "https", time.Hour, next},
		"another path":                            {[]int{443}, "/v2", "https", -time.Hour, old},
		"another path, of new pods":               {[]int{443}, "/v2", "https", time.Hour, "443 /v2"},
		"another path, of a pod that is gone":     {[]int{443}, "/v2", "https", 0, "443 /v2"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", CreationTimestamp: metav1.NewTime(epoch.Add(test.pod))}}
			if test.pod == 0 {
				pod.Name = "another"
			}
			w := newWorld(t, pod, endpoints("hook", test.port, discoveryv1.Endpoint{TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "ns", Name: "pod"}}))
			elsewhere := func(port int64, path string) *unstructured.Unstructured {
				u := converted(t, "hook", "b2xk")
				for key, value := range map[string]any{"port": port, "path": path} {
					must.NoError(t, unstructured.SetNestedField(u.Object, value, "spec", "conversion", "webhook", "clientConfig", "service", key))
				}
				return u
			}
			w.revise(options(1, elsewhere(443, "/convert"), server(t, "hook", 443), deployment(t, "op", "op:v1")))
			w.establish()
			w.run("op", true)
			w.settle()
			w.expect("ext-1", "Progressing=True/Succeeded")
			w.run("op", false)
			w.settle()
			port := int64(test.ports[len(test.ports)-1])
			w.revise(options(2, elsewhere(port, test.path), server(t, "hook", test.ports...), deployment(t, "op", "op:v2")))
			w.settle()
			w.expect("ext-2", "Progressing=True/RollingOut")
			told := func() string {
				s := w.definition().Spec.Conversion.Webhook.ClientConfig.Service
				return fmt.Sprintf("%d %s", *s.Port, *s.Path)
			}
			must.Equal(t, "meanwhile it is converted", told(), test.want)
			w.run("op", true)
			w.settle()
			if got, want := told(), fmt.Sprintf("%d %s", port, test.path); got != want {
				t.Errorf("afterwards it is converted at %s, want %s", got, want)
			}
		})
	}
}

// versions is the definition of things with some versions, the last of which is stored.
func versions(t testing.TB, all ...string) *unstructured.Unstructured {
	u := thing(t)
	unstructured.RemoveNestedField(u.Object, "spec", "conversion")
	var specs []any
	for i, v := range all {
		name, off := strings.CutSuffix(v, " off")
		specs = append(specs, map[string]any{"name": name, "served": !off, "storage": i == len(all)-1})
	}
	u.Object["spec"].(map[string]any)["versions"] = specs
	return u
}

// TestAVersionGoesWhenItsObjectsAreRewritten has a revision that leaves out a version which objects may be stored in: all are rewritten first.
func TestAVersionGoesWhenItsObjectsAreRewritten(t *testing.T) {
	w := newWorld(t, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Thing"}, ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "ns"}})
	w.revise(options(1, versions(t, "v1alpha1 off", "v1")))
	w.establish()
	w.expect("ext-1", "Progressing=True/Succeeded")
	live := w.definition()
	live.Status.StoredVersions = []string{"v1alpha1", "v1"}
	must.NoError(t, w.Inner.Status().Update(t.Context(), live))
	w.settle()
	w.Before = func(what string) error {
		if what == "patch Thing one" {
			return errors.New("denied by a webhook")
		}
		return nil
	}
	w.revise(options(2, versions(t, "v1")))
	w.settle() // an API server may not know of the last change of the definition yet
	w.expect("ext-2", "Progressing=True/RollingOut")
	w.expect("ext-2", "Available=False/ProbeFailure", "things.example.com: the new one does not have version v1alpha1 any more, so the objects that may be stored in it are rewritten as v1: 0 done")
	w.Clock.SetTime(time.Now().Add(time.Minute))
	if _, err := w.pass("ext-2"); err == nil {
		t.Error("the pass is not repeated")
	}
	w.expect("ext-2", "Progressing=True/Retrying", `risk of data loss updating "things.example.com"`, "does not have version v1alpha1", "fails for ns/one: denied by a webhook")
	if live := w.definition(); len(live.Spec.Versions) != 2 || len(live.Status.StoredVersions) != 2 {
		t.Fatalf("the version is gone before its objects: %v, stored %v", live.Spec.Versions, live.Status.StoredVersions)
	}
	w.Before = nil
	w.Taken()
	w.settle()
	w.expect("ext-2", "Progressing=True/Succeeded")
	rewritten, applied := slices.Index(w.Writes(), "patch Thing one"), slices.Index(w.Writes(), "apply CustomResourceDefinition things.example.com")
	if rewritten < 0 || applied < rewritten {
		t.Errorf("the object is to be rewritten before the definition is replaced: %q", w.Writes())
	}
	if live := w.definition(); len(live.Spec.Versions) != 1 || !slices.Equal(live.Status.StoredVersions, []string{"v1"}) {
		t.Errorf("versions %v, stored %v", live.Spec.Versions, live.Status.StoredVersions)
	}
}
