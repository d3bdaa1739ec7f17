package clusterserviceversion

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// TestAdoptedObjectsAreNotWrittenBack: a migration relabels the objects of an operator, and a revision of an extension adopts them, while a pass still
// goes on. None is written, whatever its kind, nor made again under another name.
func TestAdoptedObjectsAreNotWrittenBack(t *testing.T) {
	csv := newCSV("op.v1", withWebhooks)
	lifted := bundle.LiftRole(permissionRole(t, csv)).Name
	for name, object := range map[string]client.Object{
		"Deployment":         &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager"}},
		"Service":            &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: bundle.ServingServiceName("manager")}},
		"Role":               &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: bundle.ServingSecretName("manager")}},
		"RoleBinding":        &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: systemSpace, Name: "manager-service-auth-reader"}},
		"ClusterRole":        &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: lifted}},
		"ClusterRoleBinding": &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: lifted}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
			k.installed(csv.DeepCopy())
			edit(k, object.GetNamespace(), object.GetName(), object, func(o client.Object) {
				o.SetLabels(nil)
				o.SetOwnerReferences(ownerRef("olm.operatorframework.io/v1", "ClusterObjectSet", "ext-1"))
			})
			adopted := emptyLike(object)
			k.get(object.GetNamespace(), object.GetName(), adopted)
			for range 5 {
				_, _ = k.reconcile("op.v1")
				k.rollOut()
			}
			live := emptyLike(object)
			k.get(object.GetNamespace(), object.GetName(), live)
			adopted.SetResourceVersion("")
			live.SetResourceVersion("")
			live.SetManagedFields(adopted.GetManagedFields())
			if _, ok := live.(*appsv1.Deployment); ok {
				live.(*appsv1.Deployment).Status = adopted.(*appsv1.Deployment).Status
			}
			must.Equal(t, "what was adopted is written", live, adopted)
			if object.SetName(object.GetName() + "-" + ns); k.get(object.GetNamespace(), object.GetName(), live) {
				t.Errorf("there is a second one, %s", live.GetName())
			}
		})
	}
}

// TestRewrittenFieldsAreNoDrift: what an admission webhook makes of a value is not written for ever, and what another client changes is corrected once.
func TestRewrittenFieldsAreNoDrift(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.installed(newCSV("op.v1", withWebhooks, withoutAccounts))
	// The value differs, and the field is still the one that was applied.
	d := k.deployment("manager")
	fields := d.ManagedFields
	d.Spec.Template.Spec.Containers[0].Image = "mirror.example.com/manager:1"
	must.NoError(t, k.client.Update(t.Context(), d, fieldManager))
	if k.deployment("manager").ManagedFields == nil || fields == nil {
		t.Fatal("no managed fields are recorded")
	}
	k.rollOut()
	k.rests("op.v1")
	// The name of the mutating webhook configuration.
	k.t.Helper()
	var all admissionv1.MutatingWebhookConfigurationList
	if err := k.client.List(k.t.Context(), &all); err != nil || len(all.Items) != 1 {
		k.t.Fatal(all.Items, err)
	}
	edit(k, "", all.Items[0].Name, &admissionv1.MutatingWebhookConfiguration{}, func(c *admissionv1.MutatingWebhookConfiguration) {
		c.Webhooks[0].SideEffects = new(admissionv1.SideEffectClassSome)
	})
	k.pass("op.v1")
	must.Equal(t, "writes after another client has changed a field", k.wrote(),
		[]string{"patch MutatingWebhookConfiguration " + all.Items[0].Name, "apply MutatingWebhookConfiguration " + all.Items[0].Name})
}
