package clusterextension

import (
	"fmt"
	"slices"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRecover restores what somebody deletes, with the catalog and without, and acts on another spec without a catalog too.
func TestRecover(t *testing.T) {
	w := newWorld(t)
	all := three(w.name)
	w.publish(all[0])
	w.extend(w.name, w.name)
	w.installed(w.name, all[0].name())
	lose := func() {
		config := w.configMap(w.name + "-1.0.0")
		w.there(config)
		uid := config.UID
		must.NoError(w, w.Delete(t.Context(), config))
		w.until("another ConfigMap", func() (bool, string) {
			again := w.configMap(w.name + "-1.0.0")
			err := w.Get(t.Context(), client.ObjectKeyFromObject(again), again)
			return err == nil && again.UID != uid, "none"
		})
	}
	lose()
	catalog := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	must.NoError(w, w.Delete(t.Context(), catalog))
	w.gone(catalog)
	lose()
	w.change(w.name, inline(`{"deploymentConfig":{"env":[{"name":"A","value":"b"}]}}`))
	w.until("the Deployment as configured", func() (bool, string) {
		d := w.deployment(w.name)
		w.there(d)
		env := d.Spec.Template.Spec.Containers[0].Env
		return len(env) > 0 && env[0].Name == "A", "no such variable"
	})
	w.installed(w.name, all[0].name())
	w.says(w.name, "Deprecated", "Unknown", "DeprecationStatusUnknown", "catalog data unavailable")
}

// TestLateNamespace is waited for.
func TestLateNamespace(t *testing.T) {
	sweep.Nightly(t, "TestNamespace of internal/controller/clusterextension with a fake API server")
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0"}
	w.publish(o)
	w.extend(w.name, w.name, func(e *olmv1.ClusterExtension) { e.Spec.Namespace = w.name + "-late" })
	w.says(w.name, "Progressing", "True", "Retrying", "not found")
	w.namespace(w.name + "-late")
	w.installed(w.name, o.name())
}

// TestConflictGoes installs when an object that was in the way is removed.
func TestConflictGoes(t *testing.T) {
	sweep.Nightly(t, "TestStatus of internal/controller/clusterextension with a fake API server, and TestCollision of test/e2e/clusterobjectset")
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0"}
	w.publish(o)
	labels := map[string]string{"mine": "yes"}
	mine := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/mine"}}}}}}
	w.create(mine)
	w.extend(w.name, w.name)
	w.says(w.name, "Progressing", "True", "Retrying", "revision object collisions")
	w.says(w.name, "Installed", "False", "Failed", "No bundle installed")
	must.NoError(w, w.Delete(t.Context(), mine))
	w.installed(w.name, o.name())
}

// TestReadiness of what is installed is told.
func TestReadiness(t *testing.T) {
	sweep.Nightly(t, "TestStatus of internal/controller/clusterextension with a fake API server, and TestScaledToZero")
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0"}
	w.publish(o)
	w.extend(w.name, w.name)
	w.installed(w.name, o.name())
	selector := func(to map[string]string) {
		d := w.deployment(w.name)
		w.there(d)
		before := d.DeepCopy()
		d.Spec.Template.Spec.NodeSelector = to
		must.NoError(w, w.Patch(t.Context(), d, client.MergeFrom(before)))
	}
	selector(map[string]string{"no": "node"})
	w.says(w.name, "Available", "False", "ProbeFailure", w.name)
	w.says(w.name, "Installed", "True", "Succeeded", "1.0.0")
	selector(nil)
	w.says(w.name, "Available", "True", "ProbesSucceeded", "")
}

// TestUserManagedFields stay: labels and annotations of users, and what a restart of a roll-out leaves behind.
func TestUserManagedFields(t *testing.T) {
	w := newWorld(t)
	all := three(w.name)
	w.publish(all[0])
	w.extend(w.name, w.name)
	w.installed(w.name, all[0].name())
	d := w.deployment(w.name)
	w.there(d)
	before := d.DeepCopy()
	d.Labels["mine"] = "yes"
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations["mine"] = "yes"
	if d.Spec.Template.Annotations == nil {
		d.Spec.Template.Annotations = map[string]string{}
	}
	d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] = time.Now().Format(time.RFC3339)
	must.NoError(w, w.Patch(t.Context(), d, client.MergeFrom(before)))
	w.publish(all[0], all[1])
	w.installed(w.name, all[1].name())
	w.there(d)
	if d.Labels["mine"] != "yes" || d.Annotations["mine"] != "yes" || d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] == "" {
		t.Errorf("labels %v, annotations %v and %v", d.Labels, d.Annotations, d.Spec.Template.Annotations)
	}
}

// TestUninstall removes all that was installed, and nothing else.
func TestUninstall(t *testing.T) {
	w := newWorld(t)
	all := three(w.name)
	w.publish(all[0], operator{pkg: w.name, version: "1.1.0", replaces: "1.0.0"})
	mine := w.configMap("mine")
	w.create(mine)
	w.extend(w.name, w.name, version("1.0.0"))
	w.installed(w.name, all[0].name())
	w.change(w.name, version("1.1.0"))
	w.installed(w.name, w.name+".v1.1.0")
	must.NoError(w, w.Delete(t.Context(), w.extension(w.name)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	if got := w.revisions(w.name); len(got) != 0 {
		t.Errorf("%d revisions are left", len(got))
	}
	w.gone(w.deployment(w.name))
	w.gone(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}})
	w.there(mine)
}

// TestTheOperatorSaysNotNow: an operator that says that it cannot be upgraded stays until an administrator overrides it. Its service account may
// say so, and nothing else of the OperatorCondition's namespace is given to it.
func TestTheOperatorSaysNotNow(t *testing.T) {
	w := newWorld(t)
	all := three(w.name)
	w.publish(all[0])
	w.extend(w.name, w.name)
	w.installed(w.name, all[0].name())
	condition := &v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}}
	w.there(condition)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}}
	w.there(d)
	if env := d.Spec.Template.Spec.Containers[0].Env; !slices.Contains(env, corev1.EnvVar{Name: "OPERATOR_CONDITION_NAME", Value: w.name}) {
		t.Errorf("the operator is told %v", env)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}}
	w.there(binding)
	if len(binding.Subjects) != 1 || binding.Subjects[0].Name != w.name {
		t.Errorf("%v may write the OperatorCondition", binding.Subjects)
	}
	condition.Spec.Conditions = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: metav1.ConditionFalse, Reason: "Busy", Message: "a backup is under way",
		LastTransitionTime: metav1.Now(), ObservedGeneration: condition.Generation + 1}}
	must.NoError(w, w.Update(w.Context(), condition))
	w.until("the report is in the status", func() (bool, string) {
		must.NoError(w, w.Get(w.Context(), client.ObjectKeyFromObject(condition), condition))
		return condition.CheckUpgradeable() != nil, fmt.Sprintf("%+v", condition.Status)
	})
	w.publish(all[0], all[1])
	w.says(w.name, "Progressing", "True", "Retrying", "a backup is under way")
	w.says(w.name, "Installed", "True", "Succeeded", "")
	before := condition.DeepCopy()
	condition.Spec.Overrides = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: metav1.ConditionTrue, Reason: "Admin", Message: "I know", LastTransitionTime: metav1.Now()}}
	must.NoError(w, w.Patch(w.Context(), condition, client.MergeFrom(before)))
	w.installed(w.name, all[1].name())
	must.NoError(w, w.Delete(w.Context(), w.extension(w.name)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.gone(&v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}})
}
