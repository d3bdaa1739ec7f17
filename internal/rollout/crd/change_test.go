package crd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/test/must"
)

func counted(n int64, err error) Count {
	return func(context.Context, client.Reader, *definition) (int64, bool, error) { return n, false, err }
}

// stopped is a count that has stopped at a number.
func stopped(n int64) Count {
	return func(context.Context, client.Reader, *definition) (int64, bool, error) { return n, true, nil }
}

// TestChanges judges what neither the rules for InstallPlans nor those for ClusterExtensions are about: installation, removal, and what is rewritten.
func TestChanges(t *testing.T) {
	two := crd(t, "v1", "v2 served stored")
	two.Status.StoredVersions = []string{"v1", "v2"}
	webhook := two.DeepCopy()
	webhook.Spec.Conversion = deadConversion()
	one, exempt := crd(t, "v2 served stored"), &Policy{Exemptions: []Exemption{{Check: Removal}}}
	for name, c := range map[string]struct {
		change   Change
		count    Count
		err      string // a part of why it is refused
		stored   string
		rewrites string
		fails    bool
	}{
		"installed":                           {change: Change{Desired: one, Policy: &Policy{}}, count: counted(1, nil)},
		"removed, and empty":                  {change: Change{Live: one, Policy: &Policy{}}, count: counted(0, nil)},
		"removed with an object":              {change: Change{Live: one, Policy: &Policy{}, Bundle: "op.v2"}, count: counted(1, nil), err: "bundle op.v2 does not have it, so that it would be deleted, but it has 1 custom resource; delete them", stored: "it has 1 custom resource"},
		"removed with objects, exempt":        {change: Change{Live: one, Policy: exempt}, count: counted(7, nil), stored: "it has 7 custom resources"},
		"removed with as many as are counted": {change: Change{Live: one, Policy: exempt}, count: counted(mostCounted, nil), stored: "it has 1000 custom resources"},
		"removed with an estimate above that": {change: Change{Live: one, Policy: exempt}, count: counted(mostCounted+1, nil), stored: "it has at least 1000 custom resources"},
		"removed with objects beyond count":   {change: Change{Live: one, Policy: exempt}, count: stopped(mostCounted + 1), stored: "it has at least 1000 custom resources"},
		"a version goes of more than counted": {change: Change{Live: two, Desired: one, Policy: &Policy{}}, count: stopped(mostCounted + 1), rewrites: "at least 1001 custom resources that may be stored"},
		"a version goes of an estimate":       {change: Change{Live: two, Desired: one, Policy: &Policy{}}, count: counted(mostCounted+1, nil), rewrites: "about 1001 custom resources that may be stored"},
		"removed, and cannot be counted":      {change: Change{Live: one}, count: counted(0, errors.New("no")), err: "it is not known whether it has custom resources: no", stored: "it is not known whether it has custom resources: no", fails: true},
		"a version goes":                      {change: Change{Live: two, Desired: one, Policy: &Policy{}}, count: counted(12, nil), rewrites: "about 12 custom resources that may be stored as v1 are rewritten as v2, because that version is removed"},
		"a version goes, unchecked":           {change: Change{Live: two, Desired: one, Policy: &Policy{None: true}}, count: counted(12, nil), rewrites: "about 12 custom resources"},
		"a version goes on the way back":      {change: Change{Live: two, Desired: one, Policy: &Policy{}, Back: true}, count: counted(12, nil), rewrites: "about 12 custom resources"},
		"a version goes that nothing has":     {change: Change{Live: two, Desired: one, Policy: &Policy{}}, count: counted(0, nil)},
		"a version goes, and no count":        {change: Change{Live: two, Desired: one, Policy: &Policy{}}, count: counted(0, errors.New("no")), rewrites: "an unknown number of custom resources (no)"},
		"the webhook goes":                    {change: Change{Live: webhook, Desired: two, Policy: &Policy{}}, count: counted(2, nil), rewrites: "as v1 are rewritten as v2, because the webhook that converts them is removed"},
		"a version goes, by an InstallPlan":   {change: Change{Live: two, Desired: one}, count: counted(12, nil)},
		"a version goes that is stored still": {change: Change{Live: one, Desired: crd(t, "v1 served stored"), Policy: &Policy{}}, count: counted(1, nil), err: "stored version v2 removed"},
	} {
		t.Run(name, func(t *testing.T) {
			one.Status.StoredVersions = []string{"v2"}
			v, err := Judge(t.Context(), c.change, Stored{Reader: fake.NewClientBuilder().Build(), Count: c.count})
			if (err != nil) != c.fails {
				t.Fatal(err)
			}
			if (v.Err != nil) != (c.err != "") || v.Err != nil && !strings.Contains(v.Err.Error(), c.err) {
				t.Errorf("refused: %v, want %q", v.Err, c.err)
			}
			must.Equal(t, "reasons", len(v.Reasons) > 0, v.Err != nil)
			must.Equal(t, "stored", v.Stored, c.stored)
			if (v.Rewrites == "") != (c.rewrites == "") || !strings.Contains(v.Rewrites, c.rewrites) {
				t.Errorf("rewrites: %q, want %q", v.Rewrites, c.rewrites)
			}
		})
	}
}

// TestHandover: the server of the version before converts as long as it runs, also where the next version has a Service of the same name.
func TestHandover(t *testing.T) {
	converted := func(service, path string, port int32) *unstructured.Unstructured {
		c := crd(t, "v1 served stored")
		c.TypeMeta = metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"}
		c.Annotations = map[string]string{injectedFrom: "ns/" + service}
		c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: []byte("injected"),
				Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: service, Path: &path, Port: &port}}}}
		content := must.Value(runtime.DefaultUnstructuredConverter.ToUnstructured(c))(t)
		return &unstructured.Unstructured{Object: content}
	}
	since := metav1.Unix(1000, 0)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "old"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443}}}}
	pod := func(at int64) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", CreationTimestamp: metav1.Unix(at, 0)}}
	}
	slice := func(ready bool, to *corev1.ObjectReference) client.Object {
		return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "old-1", Labels: map[string]string{discoveryv1.LabelServiceName: "old"}},
			Ports: []discoveryv1.EndpointPort{{Name: new("https")}}, Endpoints: []discoveryv1.Endpoint{{Conditions: discoveryv1.EndpointConditions{Ready: &ready}, TargetRef: to}}}
	}
	toPod := &corev1.ObjectReference{Kind: "Pod", Namespace: "ns", Name: "pod"}
	next := func(port int64) []*unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"ports": []any{map[string]any{"port": port}}}}}
		u.SetNamespace("ns")
		u.SetName("old")
		return []*unstructured.Unstructured{u}
	}
	for name, c := range map[string]struct {
		objects  []client.Object
		desired  *unstructured.Unstructured
		services []*unstructured.Unstructured
		want     string
	}{
		"another Service, the old one runs":         {[]client.Object{service, slice(true, nil)}, converted("new", "/", 443), nil, "old / 443"},
		"another Service, the old one is not ready": {[]client.Object{service, slice(false, nil)}, converted("new", "/", 443), nil, "new / 443"},
		"another Service, the old one is gone":      {nil, converted("new", "/", 443), nil, "new / 443"},
		"another path, pods from before":            {[]client.Object{service, slice(true, toPod), pod(1)}, converted("old", "/convert", 443), next(443), "old / 443"},
		"another path, new pods alone":              {[]client.Object{service, slice(true, toPod), pod(2000)}, converted("old", "/convert", 443), next(443), "old /convert 443"},
		"another path, the pod is gone":             {[]client.Object{service, slice(true, toPod)}, converted("old", "/convert", 443), next(443), "old /convert 443"},
		"another port, the old one goes":            {[]client.Object{service, slice(true, toPod), pod(1)}, converted("old", "/", 8443), next(8443), "old / 8443"},
		"the same server":                           {nil, converted("old", "/", 443), nil, "old / 443"},
	} {
		t.Run(name, func(t *testing.T) {
			live := converted("old", "/", 443)
			h := Handover{Reader: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(c.objects...).Build(), Since: since, Services: c.services}
			must.NoError(t, h.Keep(t.Context(), c.desired, live))
			got := ReadConverter(c.desired)
			must.Equal(t, "converted by", fmt.Sprintf("%s %s %d", got.Name, got.Path, got.Port), c.want)
			must.Equal(t, "the CA bundle is that", c.desired.GetAnnotations()[injectedFrom], "ns/"+got.Name)
		})
	}
}
