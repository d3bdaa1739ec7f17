package clusterserviceversion

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// serves are the objects that the pods of Deployment manager serve with: what is there of them.
func (k *cluster) serves() []string {
	k.t.Helper()
	var out []string
	for _, o := range []struct {
		namespace, name string
		object          client.Object
	}{
		{ns, "manager-service", &corev1.Service{}}, {ns, "manager-service-cert", &corev1.Secret{}},
		{ns, "manager-service-cert", &rbacv1.Role{}}, {ns, "manager-service-cert", &rbacv1.RoleBinding{}},
		{"kube-system", "manager-service-auth-reader", &rbacv1.RoleBinding{}}, {"", "manager-service-system:auth-delegator", &rbacv1.ClusterRoleBinding{}},
	} {
		if k.get(o.namespace, o.name, o.object) {
			out = append(out, kindOf(o.object)+" "+o.name)
		}
	}
	return out
}

// TestNothingIsServedAnyMore: no one keeps rights that he has no use for, least of all lifted to the cluster, and nothing is left behind.
// The Service stays until the operator runs without it, and the Secret as long as the Service.
func TestNothingIsServedAnyMore(t *testing.T) {
	k := hooked(t)
	roles := len(k.clusterRoles())
	// A Service of the bundle, which belongs to the CSV as well.
	own := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "metrics-service", Labels: bundle.OwnerLabels(k.csv("op.v1")),
		OwnerReferences: []metav1.OwnerReference{bundle.OwnerReference(k.csv("op.v1"))}}}
	k.create(own)
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions = nil })
	k.pass("op.v1")
	writes := k.wrote()
	hook := slices.IndexFunc(writes, func(w string) bool { return strings.HasPrefix(w, "delete MutatingWebhookConfiguration") })
	if rollout := slices.Index(writes, "apply Deployment manager"); hook < 0 || hook > rollout {
		t.Errorf("pods that do not answer are rolled out while the webhooks are still asked: %v", writes)
	}
	k.pass("op.v1")
	must.Equal(t, "what serves while the pods are rolled out", k.serves(), []string{"Service manager-service", "Secret manager-service-cert"})
	k.rollsOut("op.v1")
	if c := k.conversion("things.example.com"); c.Strategy != "None" || c.Webhook != nil {
		t.Errorf("conversion: %+v", c)
	}
	k.pass("op.v1")
	must.Equal(t, "what serves after the rollout", k.serves(), []string{"Secret manager-service-cert"})
	k.pass("op.v1")
	if got := k.serves(); got != nil {
		t.Errorf("there are still %v", got)
	}
	if got := k.clusterRoles(); len(got) != roles-1 {
		t.Errorf("ClusterRoles and bindings: %v", got)
	}
	must.Equal(t, "a Service of the bundle went with them", !k.get(ns, own.Name, own), false)
	k.wrote()
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	must.Empty(t, "writes of a further pass", k.wrote())
}

// TestAnotherDeploymentServes: what served before goes, what serves now is there.
func TestAnotherDeploymentServes(t *testing.T) {
	k := hooked(t)
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		spec := &csv.Spec.InstallStrategy.StrategySpec
		spec.DeploymentSpecs = append(spec.DeploymentSpecs, newStrategy("server"))
		for i := range csv.Spec.WebhookDefinitions {
			csv.Spec.WebhookDefinitions[i].DeploymentName = "server"
		}
	})
	for range 2 {
		k.pass("op.v1")
		k.rollOut()
	}
	for range 3 {
		expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	}
	if got := k.serves(); got != nil {
		t.Errorf("there are still %v", got)
	}
	if !k.get(ns, "server-service", &corev1.Service{}) || k.conversion("things.example.com").Webhook.ClientConfig.Service.Name != "server-service" || len(k.webhookConfigurations()) != 2 {
		t.Error("the other Deployment does not serve")
	}
}

// TestAnAPIThatIsDescribedNoMore goes at once: it would be there for everybody and answer no one.
func TestAnAPIThatIsDescribedNoMore(t *testing.T) {
	k := withAPI(t)
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.APIServiceDefinitions.Owned = nil })
	k.pass("op.v1")
	must.Equal(t, "the APIService is still there", k.get("", apiService, &apiregistrationv1.APIService{}), false)
	k.rollOut()
	for range 3 {
		expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	}
	if got := k.serves(); got != nil {
		t.Errorf("there are still %v", got)
	}
}

// TestWebhooksThatBecomeInvalid are told, and mended by another edit.
func TestWebhooksThatBecomeInvalid(t *testing.T) {
	k := hooked(t)
	rename := func(name string) {
		edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions[1].GenerateName = name })
	}
	rename("v.example.com")
	for range 2 {
		expect(t, k.pass("op.v1"), toFailed, "InvalidWebhookDescription", `webhook descriptions repeat the generateName "v.example.com": give each its own`)
	}
	must.Equal(t, "webhook configurations", len(k.webhookConfigurations()), 2)
	rename("m.example.com")
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
}
