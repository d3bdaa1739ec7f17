package attack

import (
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withWebhook adds a validating webhook that a Deployment serves, under which the Deployment of the package is renamed.
func withWebhook(deployment string) func(*v1alpha1.ClusterServiceVersion) {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		none := admissionv1.SideEffectClassNone
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Name = deployment
		csv.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{{GenerateName: "v.example.com", Type: v1alpha1.ValidatingAdmissionWebhook, DeploymentName: deployment,
			ContainerPort: 443, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}}}
	}
}

// TestManagersWithoutLeases: two managers work on the namespace of a tenant at once, since their administrator has turned leases off. The tenant, a user
// with edit rights, subscribes to a bundle with a character in two escapes, to one whose Service would have a name of 78 characters, and to one for whose
// certificate the tenant has made a Secret. No Subscription gets two plans, and neither manager writes what it cannot finish or does not own.
func TestManagersWithoutLeases(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		w.run(func(o *manager.Options) {
			o.LeaderElection, o.PackageServer = false, manager.PackageServer{}
		})
	}
	const namespace = "attack-rivals"
	w.namespace(namespace)
	w.group(namespace, "")
	w.bind(namespace, "mallory", "edit")
	long := strings.Repeat("long", 17) + "er"
	faces := goods("faces", func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Description = "smiles 😀" },
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"faces"},"data":{"face":"\ud83d\ude00"}}`)
	faces[0] = strings.ReplaceAll(faces[0], "😀", `\ud83d\ude00`)
	w.shop(namespace, map[string][]string{"faces": faces, "long": goods("long", withWebhook(long)), "secret": goods("secret", withWebhook("secret"))})

	mallory := harness.ClientOf(t, w.as("mallory"))
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: bundle.ServingSecretName("secret")}, Data: map[string][]byte{"tls.key": []byte("theirs")}}
	harness.Create(t, mallory, theirs)
	for _, name := range []string{"faces", "long", "secret"} {
		harness.Create(t, mallory, order(namespace, name, v1alpha1.ApprovalAutomatic))
	}
	w.phase(namespace, "faces.v1.0.0", v1alpha1.CSVPhaseSucceeded)
	w.planOf(namespace, "faces", "to be complete", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete })
	csv, face := &v1alpha1.ClusterServiceVersion{}, &corev1.ConfigMap{}
	harness.Read(t, w, namespace, "faces.v1.0.0", csv)
	harness.Read(t, w, namespace, "faces", face)
	if csv.Spec.Description != "smiles 😀" || face.Data["face"] != "😀" {
		t.Errorf("what was written in two escapes is %q and %q", csv.Spec.Description, face.Data["face"])
	}

	refused := w.planOf(namespace, "long", "to fail", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseFailed })
	must.Contain(t, "message", refused.Status.Message, "the name", "must be no more than 63")
	if harness.Read(t, w, namespace, "long.v1.0.0", &v1alpha1.ClusterServiceVersion{}) {
		t.Error("the ClusterServiceVersion was made before its Service was found to have no possible name")
	}

	must.Eventually(t, "the operator to wait for its Secret", func() error {
		harness.Read(t, w, namespace, "secret.v1.0.0", csv)
		if csv.Status.Phase == v1alpha1.CSVPhaseSucceeded || !strings.Contains(csv.Status.Message, theirs.Name) {
			return fmt.Errorf("it is %s: %s", csv.Status.Phase, csv.Status.Message)
		}
		return nil
	})
	live := &corev1.Secret{}
	if !harness.Read(t, w, namespace, theirs.Name, live) || string(live.Data["tls.key"]) != "theirs" || len(live.Data) != 1 {
		t.Errorf("the Secret that the tenant made holds %d keys, and %d bytes of key", len(live.Data), len(live.Data["tls.key"]))
	}

	var plans v1alpha1.InstallPlanList
	must.NoError(t, w.List(t.Context(), &plans, client.InNamespace(namespace)))
	of := map[string][]string{}
	for _, p := range plans.Items {
		for _, name := range p.Spec.ClusterServiceVersionNames {
			of[name] = append(of[name], p.Name)
		}
	}
	for _, name := range []string{"faces.v1.0.0", "long.v1.0.0", "secret.v1.0.0"} {
		if len(of[name]) != 1 {
			t.Errorf("%s is in the plans %v", name, of[name])
		}
	}
}
