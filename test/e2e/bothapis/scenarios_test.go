package bothapis

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scenarios hold for both APIs. Where the published words of one differ, the scenario asks for what both say.
var scenarios = map[string]func(*world){
	"what is missing comes back":                       missing,
	"what others change is changed back":               changed,
	"an operator scaled to zero does not work":         scaledToZero,
	"a rollout that is stuck is told with its cause":   stuck,
	"an operator that ends again and again fails":      looping,
	"a certificate is issued, trusted, and made again": certificate,
	"a CRD that stored objects contradict waits":       contradicted,
	"objects are rewritten before their version goes":  rewritten,
	"an object of somebody else is not taken":          foreign,
}

func TestScenarios(t *testing.T) {
	for name, run := range scenarios {
		for api, by := range map[string]func(*world) api{"v0": byV0, "v1": byV1} {
			t.Run(name+"/"+api, func(t *testing.T) { run(newWorld(t, by)) })
		}
	}
}

// deployed changes the Deployment of an operator.
func deployed(change func(*appsv1.DeploymentSpec)) fixture.Change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		change(&csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec)
	}
}

func missing(w *world) {
	w.publish(release{version: "1.0.0"})
	w.reaches("1.0.0")
	before := w.deployment()
	w.Remove(before.DeepCopy())
	w.Eventually("the Deployment to be there again", func() error {
		if d := w.deployment(); d == nil || d.UID == before.UID {
			return errors.New("it is not")
		}
		return nil
	})
	w.reaches("1.0.0")
}

func changed(w *world) {
	w.publish(release{version: "1.0.0"})
	w.reaches("1.0.0")
	harness.Edit(w.T, w, w.Namespace, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Image = "example.com/other:2"
		d.Spec.Template.Annotations = map[string]string{"example.com/restarted": "now"}
	})
	w.Eventually("the image to be that of the bundle", func() error {
		if image := w.deployment().Spec.Template.Spec.Containers[0].Image; image != "example.com/manager:1" {
			return errors.New("it is " + image)
		}
		return nil
	})
	w.reaches("1.0.0")
	if w.deployment().Spec.Template.Annotations["example.com/restarted"] != "now" {
		w.Error("what another client added to the Deployment is gone")
	}
}

func scaledToZero(w *world) {
	w.publish(release{version: "1.0.0"})
	w.reaches("1.0.0")
	scale := func(to int32) {
		harness.Edit(w.T, w, w.Namespace, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Replicas = &to })
	}
	scale(0)
	w.says("manager is scaled to 0 replicas; scale it up again")
	scale(1)
	w.reaches("1.0.0")
}

func stuck(w *world) {
	w.publish(release{version: "1.0.0", changes: []fixture.Change{deployed(func(d *appsv1.DeploymentSpec) {
		d.ProgressDeadlineSeconds = ptr.To[int32](2)
		d.Template.Spec.NodeSelector = map[string]string{"example.com/no": "such-node"}
	})}})
	w.says("has timed out progressing", "cannot be scheduled")
	if err := w.runs("1.0.0"); err == nil {
		w.Error("an operator without a pod is said to work")
	}
}

// hooked is an operator with a webhook.
func hooked(csv *v1alpha1.ClusterServiceVersion) {
	none, exact := admissionv1.SideEffectClassNone, admissionv1.Exact
	ignore := admissionv1.Ignore
	csv.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{{Type: v1alpha1.ValidatingAdmissionWebhook, GenerateName: "check." + csv.Name[:2] + ".example.com", DeploymentName: "manager",
		AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, MatchPolicy: &exact, FailurePolicy: &ignore, ContainerPort: 443, WebhookPath: ptr.To("/check"),
		Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule: admissionv1.Rule{APIGroups: []string{"nothing.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"things"}}}}}}
}

func certificate(w *world) {
	w.publish(release{version: "1.0.0", changes: []fixture.Change{hooked}})
	w.reaches("1.0.0")
	// trusted waits until the webhook trusts the certificate in the Secret that the pods mount, and returns both.
	trusted := func(not string) (secret string, bundle string) {
		w.Eventually("the webhook to trust what is served", func() error {
			d := w.deployment()
			if d == nil {
				return errors.New("no Deployment")
			}
			for _, v := range d.Spec.Template.Spec.Volumes {
				s := &corev1.Secret{}
				if v.Secret == nil || !w.Read(v.Secret.SecretName, s) || string(s.UID) == not {
					continue
				}
				secret, bundle = s.Name, w.caBundle()
				if bundle != "" && must.Value(verifies(s.Data["tls.crt"], []byte(bundle)))(w) {
					return nil
				}
			}
			return errors.New("it does not")
		})
		return secret, bundle
	}
	name, _ := trusted("")
	s := &corev1.Secret{}
	w.Read(name, s)
	w.Remove(s.DeepCopy())
	trusted(string(s.UID))
	w.reaches("1.0.0")
}

// caBundle is what the webhook of the operator trusts.
func (w *world) caBundle() string {
	var list admissionv1.ValidatingWebhookConfigurationList
	must.NoError(w, w.List(w.Context(), &list))
	for _, c := range list.Items {
		for _, hook := range c.Webhooks {
			if service := hook.ClientConfig.Service; service != nil && service.Namespace == w.Namespace {
				return string(hook.ClientConfig.CABundle)
			}
		}
	}
	return ""
}

// things is a CRD of the world, in which size has a limit where there is one.
func (w *world) things(maximum float64, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := fixture.Definition("things", "Thing", w.group, versions...)
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	for i := range crd.Spec.Versions {
		size := apiextensionsv1.JSONSchemaProps{Type: "integer"}
		if maximum > 0 {
			size.Maximum = &maximum
		}
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": size}}}}
	}
	return crd
}

// owning is an operator with the CRD in its last version.
func (w *world) owning(version string, crd *apiextensionsv1.CustomResourceDefinition) release {
	return release{version: version, objects: []client.Object{crd}, changes: []fixture.Change{func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: crd.Name, Kind: "Thing", Version: crd.Spec.Versions[len(crd.Spec.Versions)-1].Name}}
	}}}
}

func (w *world) thing(version string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.group + "/" + version, "kind": "Thing",
		"metadata": map[string]any{"name": "mine", "namespace": w.Namespace}, "spec": map[string]any{"size": size}}}
}

func contradicted(w *world) {
	first := w.owning("1.0.0", w.things(0, "v1"))
	w.publish(first)
	w.reaches("1.0.0")
	w.Make(w.thing("v1", 20))
	w.publish(first, w.owning("1.1.0", w.things(10, "v1")))
	w.says("things."+w.group, "spec.size")
	// What is installed goes on working, with the definition that it has.
	if err := w.runs("1.0.0"); err != nil {
		w.Error(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if w.Read("things."+w.group, crd); crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["size"].Maximum != nil {
		w.Error("the definition was changed")
	}
}

func rewritten(w *world) {
	first := w.owning("1.0.0", w.things(0, "v1"))
	w.publish(first)
	w.reaches("1.0.0")
	w.Make(w.thing("v1", 5))
	// v2 is stored from now on, but for what is there already.
	second := w.owning("1.1.0", w.things(0, "v1", "v2"))
	w.publish(first, second)
	w.reaches("1.1.0")
	// While v1 is served it does not go.
	w.publish(first, second, w.owning("1.2.0", w.things(0, "v2")))
	w.says("things."+w.group, "stored version")
	must.NoError(w, w.runs("1.1.0"))
	off := w.things(0, "v1", "v2")
	off.Spec.Versions[0].Served = false
	third := w.owning("1.2.1", off)
	w.publish(first, second, third)
	w.reaches("1.2.1")
	w.publish(first, second, third, w.owning("1.3.0", w.things(0, "v2")))
	w.reaches("1.3.0")
	crd := &apiextensionsv1.CustomResourceDefinition{}
	w.Read("things."+w.group, crd)
	must.Equal(w, "stored versions", crd.Status.StoredVersions, []string{"v2"})
	live := w.thing("v2", 0)
	if !w.Read("mine", live) {
		w.Fatal("the custom resource is gone")
	}
	if size, _, _ := unstructured.NestedInt64(live.Object, "spec", "size"); size != 5 {
		w.Errorf("it has become %v", live.Object["spec"])
	}
}

func foreign(w *world) {
	theirs := &corev1.ConfigMap{ObjectMeta: w.Named("settings"), Data: map[string]string{"of": "somebody else"}}
	w.Make(theirs)
	ours := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"of": "the operator"}}
	w.publish(release{version: "1.0.0", objects: []client.Object{ours}})
	w.says("ConfigMap", "settings", "exists")
	live := &corev1.ConfigMap{}
	if w.Read("settings", live); live.Data["of"] != "somebody else" {
		w.Error("it was taken: " + fmt.Sprint(live.Data))
	}
	if err := w.runs("1.0.0"); err == nil || strings.Contains(err.Error(), "Succeeded") {
		w.Error("the operator is said to work without it")
	}
}
