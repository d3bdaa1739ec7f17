package realnode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
)

const (
	webhooksPackage = "webhooks"
	realGroup       = "real.fairlead.dev"
	seenBy          = realGroup + "/seen-by"
)

// webhookSamples are two versions of an operator with webhooks of every kind, and an aggregated API.
func (w *world) webhookSamples() (all []sample) {
	for _, version := range []string{"1.0.0", "1.1.0"} {
		s := sample{pkg: webhooksPackage, version: version, objects: []runtime.Object{things()}, change: []fixture.Change{
			fixture.Modes(v1alpha1.InstallModeTypeAllNamespaces), w.runs("operate", version), describeWebhooks,
			first(func(c *corev1.Container) {
				c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}}, PeriodSeconds: 1}
			}),
		}}
		if version != "1.0.0" {
			s.change = append(s.change, fixture.Replacing(webhooksPackage+".v1.0.0"))
		}
		all = append(all, s)
	}
	return all
}

func things() *apiextensionsv1.CustomResourceDefinition {
	crd := fixture.Definition("things", "Thing", realGroup, "v2", "v1")
	crd.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	return crd
}

func describeWebhooks(csv *v1alpha1.ClusterServiceVersion) {
	for _, v := range []string{"v1", "v2"} {
		csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned, v1alpha1.CRDDescription{Name: "things." + realGroup, Version: v, Kind: "Thing"})
	}
	fail, none, target := admission.Fail, admission.SideEffectClassNone, intstr.FromInt32(9443)
	for path, kind := range map[string]v1alpha1.WebhookAdmissionType{
		"/validate": v1alpha1.ValidatingAdmissionWebhook, "/mutate": v1alpha1.MutatingAdmissionWebhook, "/convert": v1alpha1.ConversionWebhook,
	} {
		d := v1alpha1.WebhookDescription{GenerateName: path[1:] + ".things." + realGroup, Type: kind, DeploymentName: webhooksPackage, ContainerPort: 443, TargetPort: &target,
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, WebhookPath: &path}
		if kind == v1alpha1.ConversionWebhook {
			d.ConversionCRDs = []string{"things." + realGroup}
		} else {
			d.FailurePolicy = &fail
			d.Rules = []admission.RuleWithOperations{{Operations: []admission.OperationType{admission.Create, admission.Update},
				Rule: admission.Rule{APIGroups: []string{realGroup}, APIVersions: []string{"*"}, Resources: []string{"things"}}}}
		}
		csv.Spec.WebhookDefinitions = append(csv.Spec.WebhookDefinitions, d)
	}
	csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "widgets", Group: realGroup, Version: "v1alpha1", Kind: "Widget", DeploymentName: webhooksPackage, ContainerPort: 9443}}
}

func thing(version, name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": realGroup + "/" + version, "kind": "Thing",
		"metadata": map[string]any{"namespace": webhooksPackage, "name": name}, "spec": map[string]any{"size": size}}}
}

// webhooks: an operator with webhooks of every kind and an aggregated API does its work, and goes on with that while it is upgraded.
func (w *world) webhooks() {
	w.subscribe(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: webhooksPackage}}, webhooksPackage, false)
	began := time.Now()
	must.EventuallyWithin(w, "the operator is installed", 2*time.Minute, func() error { return w.csvSucceeds(webhooksPackage, webhooksPackage+".v1.0.0") })
	w.Logf("an operator with webhooks and an aggregated API is installed after %s", time.Since(began).Round(100*time.Millisecond))
	if err := w.Create(w.Context(), thing("v1", "negative", -1)); err == nil || !strings.Contains(err.Error(), "a size is not negative") {
		w.Errorf("a negative size: %v", err)
	}
	w.make(thing("v1", "used", 7))
	must.NoError(w, w.uses(w.Context(), "1.0.0"))

	load := w.busy(func(ctx context.Context) error { return w.uses(ctx, "1.0.0", "1.1.0") })
	subscription := &v1alpha1.Subscription{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: webhooksPackage, Name: webhooksPackage}, subscription))
	before := subscription.DeepCopy()
	subscription.Spec.Channel = next
	must.NoError(w, w.Patch(w.Context(), subscription, client.MergeFrom(before)))
	must.EventuallyWithin(w, "the operator is upgraded", 2*time.Minute, func() error {
		return errors.Join(w.csvSucceeds(webhooksPackage, webhooksPackage+".v1.1.0"), w.uses(w.Context(), "1.1.0"))
	})
	time.Sleep(15 * time.Second) // until the pods of the version before are gone
	w.Logf("%d calls of webhooks and the aggregated API during an upgrade", load())
	must.NoError(w, w.uses(w.Context(), "1.1.0"))
}

// uses asks every webhook and the aggregated API once, which one of some versions has to answer.
func (w *world) uses(ctx context.Context, versions ...string) error {
	one := func(of string) bool {
		for _, v := range versions {
			if of == v {
				return true
			}
		}
		return false
	}
	made := thing("v1", "tried", 1)
	if err := w.Create(ctx, made, client.DryRunAll); err != nil {
		return fmt.Errorf("create a Thing: %w", err)
	}
	if by := made.GetAnnotations()[seenBy]; !one(by) {
		return fmt.Errorf("a Thing was seen by %q, want one of %v", by, versions)
	}
	converted := thing("v2", "used", 0)
	if err := w.Get(ctx, client.ObjectKeyFromObject(converted), converted); err != nil {
		return fmt.Errorf("read a Thing in v2: %w", err)
	}
	if size, _, _ := unstructured.NestedInt64(converted.Object, "spec", "size"); size != 70 {
		return fmt.Errorf("a Thing of size 7 is converted to one of %d, want 70", size)
	}
	widget, err := w.client.Discovery().RESTClient().Get().AbsPath("/apis/" + realGroup + "/v1alpha1/namespaces/" + webhooksPackage + "/widgets/one").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("read a Widget: %w", err)
	}
	for _, v := range versions {
		if strings.Contains(string(widget), `"servedBy":"`+v+`"`) {
			return nil
		}
	}
	return fmt.Errorf("a Widget is %s, want one of %v", widget, versions)
}

// busy does something again and again until the function that it returns is called, which says how often. None may fail.
func (w *world) busy(do func(context.Context) error) (end func() int) {
	ctx, stop := context.WithCancel(w.Context())
	var working sync.WaitGroup
	count := 0
	var failures []string
	working.Go(func() {
		for ; ctx.Err() == nil; count++ {
			began := time.Now()
			if err := do(ctx); err != nil && ctx.Err() == nil {
				failures = append(failures, fmt.Sprintf("%s: after %s: %v", began.Format(time.TimeOnly), time.Since(began), err))
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() int {
		w.Helper()
		stop()
		working.Wait()
		if len(failures) > 0 {
			w.Errorf("%d of %d calls failed:\n%s", len(failures), count, strings.Join(failures[:min(5, len(failures))], "\n"))
		}
		return count
	}
}
