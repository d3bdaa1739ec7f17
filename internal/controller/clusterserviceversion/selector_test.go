package clusterserviceversion

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const immutable = "install strategy failed: Deployment operators/manager exists with the selector app=manager, which cannot be changed to control-plane=manager: " +
	"delete the Deployment, and it is recreated (none of its pods runs in between), or have the author of the operator name it otherwise"

// withAnotherSelector is what becomes of an operator whose project was scaffolded again.
func withAnotherSelector(csv *v1alpha1.ClusterServiceVersion) {
	spec := &csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"control-plane": "manager"}}
	spec.Template.Labels = spec.Selector.MatchLabels
}

// selected is a cluster with an operator whose next version has the same Deployment with another selector.
func selected(t *testing.T, edits ...func(*v1alpha1.ClusterServiceVersion)) *cluster {
	t.Helper()
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", append(edits, withoutAccounts)...))
	k.create(newCSV("op.v2", append(edits, withoutAccounts, replacing("op.v1"), withAnotherSelector)...))
	k.wrote()
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	expect(t, k.pass("op.v2"), toFailed, "InstallComponentFailedNoRetry", immutable)
	for _, w := range k.wrote() {
		if strings.HasPrefix(applied(w), "apply") {
			t.Errorf("although the install cannot be made: %s", w)
		}
	}
	k.stays(t, "op.v2")
	return k
}

// TestAnotherSelector: the status reports what to do, nothing of the version that runs is touched, and either way out goes on.
func TestAnotherSelector(t *testing.T) {
	for name, wayOut := range map[string]func(*cluster){
		"the Deployment is deleted": func(k *cluster) {
			k.delete(managerDeployment())
			k.pass("op.v1") // which hears of it first, and leaves it to the next version
			if d := k.deploymentOrNil("manager"); d != nil {
				t.Errorf("it is made again with the old selector: %v", d.Labels)
			}
		},
		"the Deployment gets another name": func(k *cluster) {
			edit(k, ns, "op.v2", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Name = "manager-v2"
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := selected(t)
			wayOut(k)
			k.pass("op.v2")
			expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
			k.rollsOut("op.v2")
		})
	}
}

// TestHealedBesideARefusedReplacement: as long as the next version could not change anything, what runs is corrected.
func TestHealedBesideARefusedReplacement(t *testing.T) {
	k := selected(t)
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "example.com/evil" })
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	if d := k.deployment("manager"); d.Spec.Template.Spec.Containers[0].Image != "example.com/manager:1" || d.Labels[v1alpha1.OwnerLabel] != "op.v1" {
		t.Errorf("it runs %s, with the labels %v", d.Spec.Template.Spec.Containers[0].Image, d.Labels)
	}
	k.stays(t, "op.v2")
}

// TestNotHealedOnceTakenOver: what a version that was refused in parts has got hold of is not taken back.
func TestNotHealedOnceTakenOver(t *testing.T) {
	k := selected(t, withDeployments("manager", "other"))
	edit(k, ns, "other", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Labels[v1alpha1.OwnerLabel] = "op.v2" })
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "example.com/evil" })
	k.rests("op.v1")
}

// TestASelectorIsEdited: an operator that is not replaced says the same.
func TestASelectorIsEdited(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, withAnotherSelector)
	expect(t, k.pass("op.v1"), toFailed, "InstallComponentFailedNoRetry", immutable)
	k.stays(t, "op.v1")
	k.delete(managerDeployment())
	k.pass("op.v1")
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
}
