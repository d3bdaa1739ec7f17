package clusterserviceversion

import (
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

const statusWrite = "patch status ClusterServiceVersion op.v1"

func TestInstall(t *testing.T) {
	csv := newCSV("op.v1")
	k := newCluster(t, csv, newGroup(ns))
	expect(t, k.pass("op.v1"), toPending, "RequirementsNotMet", "one or more requirements couldn't be found: ServiceAccount account: NotPresent, Service account does not exist")
	k.create(permissions(t, csv)...)
	k.wrote()
	k.told()

	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "installing: waiting for deployment manager to become ready: rollout not yet observed")
	must.Equal(t, "writes of the install", k.wrote(), []string{"create Deployment manager", statusWrite})
	want := []string{
		"Normal AllRequirementsMet all requirements found, attempting install",
		"Normal InstallSucceeded waiting for install components to report healthy",
		"Normal InstallWaiting installing: waiting for deployment manager to become ready: rollout not yet observed",
	}
	must.Equal(t, "events of the install", k.told(), want)

	k.rollOut()
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "install strategy completed with no errors")
	k.wrote()
	for range 3 {
		k.pass("op.v1")
	}
	must.Empty(t, "an operator that runs causes writes", k.wrote())
	d := k.deployment("manager")
	if d.Spec.Template.Annotations["olm.targetNamespaces"] != ns || !hasOwner(d, "op.v1-uid") || !ownedBy(d, csv) {
		t.Errorf("Deployment: %v, template annotations %v", d.ObjectMeta, d.Spec.Template.Annotations)
	}
}

// deployment reads a Deployment of the namespace; nil when it is not there.
func (k *cluster) deployment(name string) *appsv1.Deployment {
	k.t.Helper()
	d := &appsv1.Deployment{}
	if !k.get(ns, name, d) {
		return nil
	}
	return d
}

// running is a cluster with an operator that runs.
func running(t *testing.T, edits ...func(*v1alpha1.ClusterServiceVersion)) *cluster {
	t.Helper()
	k := newCluster(t, newGroup(ns))
	k.installed(newCSV("op.v1", edits...))
	k.wrote()
	k.told()
	return k
}

func TestDeletedDeploymentIsMadeAgain(t *testing.T) {
	k := running(t)
	k.delete(k.deployment("manager"))
	csv := k.pass("op.v1")
	expect(t, csv, toInstalling, "InstallWaiting", "")
	want := []string{"Failed/ComponentUnhealthy", "Pending/NeedsReinstall", "InstallReady/AllRequirementsMet", "Installing/InstallSucceeded", "Installing/InstallWaiting"}
	must.Equal(t, "history", history(csv)[len(history(csv))-5:], want)
	must.Equal(t, "the Deployment was not made again", k.deployment("manager") == nil, false)
	must.Equal(t, "first event", k.told()[0], "Warning ComponentUnhealthy installing: missing deployment with name=manager")
}

func TestEditsAreHealedAndAdditionsStay(t *testing.T) {
	k := running(t)
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Image = "example.com/evil:1"
		d.Spec.Template.Spec.Containers = slices.Insert(d.Spec.Template.Spec.Containers, 0, corev1.Container{Name: "sidecar", Image: "example.com/sidecar:1"})
		d.Spec.Template.Annotations["example.com/added"] = "yes"
		d.Spec.Replicas = new(int32)
		*d.Spec.Replicas = 3
	})
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	must.Equal(t, "writes", k.wrote(), []string{"patch Deployment manager", "apply Deployment manager"})
	spec := k.deployment("manager").Spec
	images := map[string]string{}
	for _, c := range spec.Template.Spec.Containers {
		images[c.Name] = c.Image
	}
	must.Equal(t, "images", images, map[string]string{"manager": "example.com/manager:1", "sidecar": "example.com/sidecar:1"})
	if spec.Template.Annotations["example.com/added"] != "yes" || *spec.Replicas != 3 {
		t.Error("what others had added is gone")
	}
	k.rollOut()
	k.pass("op.v1")
	k.rests("op.v1")
}

func TestHealingThatFailsIsTold(t *testing.T) {
	k := running(t)
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "x" })
	k.api.Before = func(string) error {
		return apierrors.NewForbidden(schema.GroupResource{}, "manager", errors.New("policy"))
	}
	k.fails("op.v1")
	told := k.told()
	if len(told) != 1 || !strings.HasPrefix(told[0], "Warning ComponentUnhealthy a change of another client cannot be reverted: apply Deployment operators/manager:") {
		t.Errorf("events: %q", told)
	}
}

func TestScaledToZeroIsReported(t *testing.T) {
	k := running(t)
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32) })
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting",
		"installing: waiting for deployment manager to become ready: Deployment manager is scaled to 0 replicas; scale it up again")
}

func TestZeroReplicasOfTheAuthorAreFine(t *testing.T) {
	k := running(t, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Replicas = new(int32)
	})
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { *d.Spec.Replicas = 2 })
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	must.Equal(t, "replicas, of which the author asks for 0", *k.deployment("manager").Spec.Replicas, 0)
}

func TestEditedCSVRollsOutOnce(t *testing.T) {
	k := running(t)
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{newStrategy("renamed")}
	})
	csv := k.pass("op.v1")
	expect(t, csv, toInstalling, "InstallWaiting", "")
	if k.deployment("manager") != nil || k.deployment("renamed") == nil {
		t.Error("the renamed Deployment did not take the place of the old one")
	}
	k.wrote()
	k.rollsOut("op.v1")
	must.Equal(t, "writes after the rollout began", k.wrote(), []string{statusWrite})
}

func TestForeignDeploymentsStay(t *testing.T) {
	k := running(t)
	labelled := newCSV("op.v1")
	foreign := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "foreign", Labels: managedLabels(labelled)}}
	k.create(foreign) // it has the labels, but not the owner reference
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = "example.com/manager:2"
	})
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	must.Equal(t, "a Deployment of another owner was deleted", k.deployment("foreign") == nil, false)
}

// TestDeploymentThatIsNoLongerWanted: a Deployment that an edit takes out of the strategy goes, and the others are left
// in peace.
func TestDeploymentThatIsNoLongerWanted(t *testing.T) {
	k := running(t, func(csv *v1alpha1.ClusterServiceVersion) {
		strategy := &csv.Spec.InstallStrategy.StrategySpec
		strategy.DeploymentSpecs = append(strategy.DeploymentSpecs, newStrategy("helper"))
	})
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		strategy := &csv.Spec.InstallStrategy.StrategySpec
		strategy.DeploymentSpecs = strategy.DeploymentSpecs[:1]
	})
	k.wrote()
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	must.Equal(t, "writes", k.wrote(), []string{"delete Deployment helper"})
	k.pass("op.v1")
	must.Empty(t, "writes of a second pass", k.wrote())
}

// TestSubscriptionConfigIsThereFromTheStart: exactly one roll-out, whether the Subscription has the CSV installed, is
// moving to it, or is only known to be of the same package.
func TestSubscriptionConfigIsThereFromTheStart(t *testing.T) {
	subscription := func(edit func(*v1alpha1.Subscription)) *v1alpha1.Subscription {
		s := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "sub"}, Spec: &v1alpha1.SubscriptionSpec{
			Package: "pkg", Config: &v1alpha1.SubscriptionConfig{Env: []corev1.EnvVar{{Name: "FROM", Value: "subscription"}}},
		}}
		edit(s)
		return s
	}
	annotated := func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"operatorframework.io/properties": `{"properties":[{"type":"olm.gvk","value":{}},{"type":"olm.package","value":{"packageName":"pkg","version":"1.0.0"}}]}`}
	}
	tests := map[string]struct {
		subscription *v1alpha1.Subscription
		want         bool
	}{
		"installed":       {subscription(func(s *v1alpha1.Subscription) { s.Status.InstalledCSV, s.Spec.Package = "op.v1", "x" }), true},
		"moving to it":    {subscription(func(s *v1alpha1.Subscription) { s.Status.CurrentCSV, s.Spec.Package = "op.v1", "x" }), true},
		"of the package":  {subscription(func(*v1alpha1.Subscription) {}), true},
		"of another":      {subscription(func(s *v1alpha1.Subscription) { s.Spec.Package = "other" }), false},
		"without a spec":  {&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "sub"}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: "op.v1"}}, false},
		"without config":  {subscription(func(s *v1alpha1.Subscription) { s.Spec.Config = nil }), false},
		"in another room": {subscription(func(s *v1alpha1.Subscription) { s.Namespace = "other" }), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(ns), tc.subscription)
			k.installed(newCSV("op.v1", annotated))
			got := slices.ContainsFunc(k.deployment("manager").Spec.Template.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "FROM" })
			must.Equal(t, "the configuration has arrived", got, tc.want)
			applies := slices.DeleteFunc(k.wrote(), func(w string) bool { return !strings.HasPrefix(applied(w), "apply Deployment") })
			must.Equal(t, "count of applies", len(applies), 1)
		})
	}
}

func TestChangedConfigRollsOut(t *testing.T) {
	k := running(t)
	k.create(&v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "sub"},
		Spec:       &v1alpha1.SubscriptionSpec{Config: &v1alpha1.SubscriptionConfig{NodeSelector: map[string]string{"zone": "a"}}},
		Status:     v1alpha1.SubscriptionStatus{InstalledCSV: "op.v1"},
	})
	csv := k.pass("op.v1")
	expect(t, csv, toInstalling, "InstallWaiting", "")
	must.Equal(t, "beginning of the rollout", history(csv)[len(history(csv))-3], "InstallReady/ComponentUnhealthy")
}

func TestHealth(t *testing.T) {
	condition := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) appsv1.DeploymentCondition {
		return appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message}
	}
	up := condition(appsv1.DeploymentAvailable, "True", "", "")
	waiting := "installing: waiting for deployment manager to become ready: "
	tests := map[string]struct {
		status  appsv1.DeploymentStatus
		phase   phase
		reason  reason
		message string
	}{
		"available":         {appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{up}}, toSucceeded, "InstallSucceeded", ""},
		"available in part": {appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1, UnavailableReplicas: 1, Conditions: []appsv1.DeploymentCondition{up}}, toSucceeded, "InstallSucceeded", ""},
		"nothing yet":       {appsv1.DeploymentStatus{}, toInstalling, "InstallWaiting", waiting + "no pod is available yet"},
		"not available": {appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{condition(appsv1.DeploymentAvailable, "False", "MinimumReplicasUnavailable", "too few")}},
			toInstalling, "InstallWaiting", waiting + "too few"},
		"old pods": {appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{up}}, toInstalling, "InstallWaiting", waiting + "2 old replicas are pending termination"},
		"no quota": {appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{condition(appsv1.DeploymentReplicaFailure, "True", "FailedCreate", "exceeded quota")}},
			toInstalling, "InstallWaiting", waiting + "exceeded quota"},
		"given up": {appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{condition(appsv1.DeploymentProgressing, "False", "ProgressDeadlineExceeded", "timed out progressing")}},
			toFailed, "InstallCheckFailed", "install failed: deployment manager not ready before timeout: timed out progressing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := ready(t)
			k.pass("op.v1")
			d := k.deployment("manager")
			tc.status.ObservedGeneration = d.Generation
			k.setStatus(d, tc.status)
			expect(t, k.pass("op.v1"), tc.phase, tc.reason, tc.message)
			k.rests("op.v1")
			k.rollsOut("op.v1")
		})
	}
}

// TestUnavailableForTheCauseOfItsPods: the status has the cause once the Deployment has been unavailable for a while, without an event.
func TestUnavailableForTheCauseOfItsPods(t *testing.T) {
	k := ready(t)
	k.pass("op.v1")
	d := k.deployment("manager")
	k.setStatus(d, appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: "False", Message: "too few", LastTransitionTime: metav1.NewTime(k.clock.Now())}}})
	k.create(k.podOf("manager-1", time.Minute, waitingFor("CrashLoopBackOff")))
	const waiting = "installing: waiting for deployment manager to become ready: "
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", waiting+"too few")
	result, err := k.reconcile("op.v1")
	if err != nil || result.RequeueAfter != 10*time.Second {
		t.Fatalf("its pods are asked after %s (%v), want 10s", result.RequeueAfter, err)
	}
	k.clock.SetTime(k.clock.Now().Add(result.RequeueAfter))
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", waiting+"container  of pod manager-1 keeps exiting; too few")
	if result, err = k.reconcile("op.v1"); err != nil || result.RequeueAfter != 30*time.Second {
		t.Errorf("its pods are asked again after %s (%v), want 30s", result.RequeueAfter, err)
	}
}

func TestInstallTimeout(t *testing.T) {
	k := ready(t)
	result, err := k.reconcile("op.v1")
	if err != nil || result.RequeueAfter != DefaultInstallTimeout {
		t.Fatalf("the install is looked at again after %s (%v)", result.RequeueAfter, err)
	}
	k.clock.SetTime(k.clock.Now().Add(DefaultInstallTimeout - time.Second))
	if result, err = k.reconcile("op.v1"); err != nil || result.RequeueAfter != time.Second {
		t.Fatalf("the install is looked at again after %s (%v)", result.RequeueAfter, err)
	}
	k.clock.SetTime(k.clock.Now().Add(time.Second))
	expect(t, k.pass("op.v1"), toFailed, "InstallCheckFailed",
		"install timeout: waiting for deployment manager to become ready: rollout not yet observed")
	if result, err = k.reconcile("op.v1"); err != nil || !result.IsZero() {
		t.Errorf("a failed install is looked at again after %s (%v)", result.RequeueAfter, err)
	}

	// While it rests, what another client broke is corrected, and a Deployment that is gone begins a new install.
	k.wrote()
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "x" })
	expect(t, k.pass("op.v1"), toFailed, "InstallCheckFailed", "")
	must.Equal(t, "writes of the correction", k.wrote(), []string{"patch Deployment manager", "apply Deployment manager"})
	k.delete(k.deployment("manager"))
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
}

func TestRefusedInstall(t *testing.T) {
	k := ready(t)
	k.failAt("apply Deployment", apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "manager", nil))
	if result, err := k.reconcile("op.v1"); err != nil || result.RequeueAfter != unwatchedInterval {
		t.Fatalf("a refusal is looked at again after %s (%v)", result.RequeueAfter, err)
	}
	refusal := `install strategy failed: create Deployment operators/manager: Deployment.apps "manager" is invalid`
	expect(t, k.csv("op.v1"), toFailed, "InstallComponentFailedNoRetry", refusal)
	k.wrote()
	expect(t, k.pass("op.v1"), toFailed, "InstallComponentFailedNoRetry", refusal)
	must.Empty(t, "writes while it is refused", k.wrote())
	k.api.Before = nil
	csv := k.pass("op.v1")
	expect(t, csv, toInstalling, "InstallWaiting", "")
	if !slices.Contains(history(csv), "Pending/DetectedClusterChange") {
		t.Errorf("history: %v", history(csv))
	}
}

func TestFailedInstallIsTriedAgain(t *testing.T) {
	k := ready(t)
	k.failAt("apply Deployment", apierrors.NewInternalError(errors.New("webhook says no")))
	k.fails("op.v1")
	expect(t, k.csv("op.v1"), toFailed, "InstallComponentFailed", "install strategy failed: create Deployment operators/manager: Internal error occurred: webhook says no")
	k.wrote()
	for range 3 {
		k.fails("op.v1")
	}
	must.Equal(t, "failing again and again writes the status again and again", slices.Contains(k.wrote(), statusWrite), false)
	k.api.Before = nil
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
}

// TestTransientFailures say nothing about the install: the phase stays, and the pass is repeated.
func TestTransientFailures(t *testing.T) {
	for name, failure := range map[string]error{
		"too many requests": apierrors.NewTooManyRequests("later", 1),
		"unavailable":       apierrors.NewServiceUnavailable("later"),
		"timeout":           apierrors.NewTimeoutError("slow", 1),
		"connection":        &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
	} {
		t.Run(name, func(t *testing.T) {
			k := ready(t)
			k.failAt("apply Deployment", failure)
			k.fails("op.v1")
			expect(t, k.csv("op.v1"), toInstallReady, "AllRequirementsMet", "")
			k.api.Before = nil
			expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
		})
	}
}

// TestNamespaceThatIsDeleted: nothing is made in it any more, and nothing is tried again.
func TestNamespaceThatIsDeleted(t *testing.T) {
	terminating := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "manager", errors.New("terminating"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	k := ready(t)
	k.failAt("apply Deployment", terminating)
	if _, err := k.reconcile("op.v1"); err != nil {
		t.Errorf("it is tried again: %v", err)
	}
	expect(t, k.csv("op.v1"), toInstallReady, "AllRequirementsMet", "")
	going := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Finalizers: []string{"kubernetes"}}}
	k.create(going)
	k.delete(going)
	k.rests("op.v1")
}

func TestConflictsAreQuiet(t *testing.T) {
	k := newCluster(t, newGroup(ns), newCSV("op.v1"))
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "clusterserviceversions"}, "op.v1", errors.New("changed"))
	k.api.Before = func(string) error { return conflict }
	if _, err := k.reconcile("op.v1"); err != nil {
		t.Errorf("a conflict is an error: %v", err)
	}
	both := errors.Join(conflict, errors.New("other"))
	if err := reconcile.IgnoreSuperseded(both, watched...); err == nil || err.Error() != both.Error() {
		t.Errorf("of a conflict and another error remains %v", err)
	}
}

// TestCacheThatLagsBehind: a pass over a version that is older than the last write does nothing.
func TestCacheThatLagsBehind(t *testing.T) {
	k := newCluster(t, newGroup(ns), newCSV("op.v1"))
	csv := k.pass("op.v1")
	later := csv.DeepCopy()
	later.ResourceVersion += "0"
	k.c.written.Remember(csv, later, csv.Status)
	k.delete(newGroup())
	k.rests("op.v1")
	k.c.written.Forget(key(ns, "op.v1"))
	expect(t, k.pass("op.v1"), toFailed, "NoOperatorGroup", "")
}

// TestKilledAtEveryWrite stops the controller once at every write of an install, an upgrade and an uninstall, before the
// cluster has it or before the answer arrives. A new controller finishes, and nothing is there twice or left.
func TestKilledAtEveryWrite(t *testing.T) {
	for name, set := range map[string]func(k *cluster, kill func(string) error){
		"before it is done":          func(k *cluster, kill func(string) error) { k.api.Before = kill },
		"before the answer is there": func(k *cluster, kill func(string) error) { k.api.After = kill },
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
			killed := map[string]bool{}
			kill := func(write string) error {
				if killed[write] {
					return nil
				}
				killed[write] = true
				return fakeapi.ErrKilled
			}
			until := func(done func() bool) {
				t.Helper()
				clear(killed)
				set(k, kill)
				for range 80 {
					for _, name := range []string{"op.v1", "op.v2"} {
						_, _ = k.reconcile(name)
						k.c.written.Forget(key(ns, name))
						k.c.writtenAt.Clear()
					}
					k.rollOut()
					if done() {
						break
					}
				}
				set(k, nil)
				if !done() {
					t.Fatalf("it was not finished; op.v1 %v, op.v2 %v", k.csv("op.v1"), k.csv("op.v2"))
				}
				if len(killed) < 6 {
					t.Errorf("only killed at %v", killed)
				}
			}
			for i, name := range []string{"op.v1", "op.v2"} {
				csv := newCSV(name, withWebhooks)
				if i > 0 {
					csv.Spec.Replaces = "op.v1"
				}
				k.create(csv)
				for _, o := range permissions(t, csv) {
					if err := k.client.Create(t.Context(), o); apierrors.IsAlreadyExists(err) {
						edit(k, ns, "account", &corev1.ServiceAccount{}, func(a *corev1.ServiceAccount) { a.OwnerReferences = nil })
					} else if err != nil {
						t.Fatal(err)
					}
				}
				until(func() bool {
					return k.csv(name) != nil && k.csv(name).Status.Phase == toSucceeded && (i == 0 || k.csv("op.v1") == nil)
				})
				expect(t, k.pass(name), toSucceeded, "InstallSucceeded", "")
				must.Equal(t, "webhook configurations", len(k.webhookConfigurations()), 2)
			}
			k.delete(k.csv("op.v2"))
			until(func() bool { return k.csv("op.v2") == nil })
			must.Empty(t, "left", append(k.webhookConfigurations(), k.clusterRoles()...))
		})
	}
}

// TestWhatCannotBeComputed: a configuration of the Subscription that makes no sense is told, wherever the CSV stands.
func TestWhatCannotBeComputed(t *testing.T) {
	k := running(t)
	subscription := &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "sub"},
		Spec: &v1alpha1.SubscriptionSpec{Config: &v1alpha1.SubscriptionConfig{Selector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Maybe"}},
		}}},
		Status: v1alpha1.SubscriptionStatus{InstalledCSV: "op.v1"},
	}
	k.create(subscription)
	csv := k.pass("op.v1")
	expect(t, csv, toFailed, "InstallComponentFailedNoRetry", "")
	must.Contain(t, "message", csv.Status.Message, `"Maybe" is not a valid label selector operator`)
	k.rests("op.v1")
	k.delete(subscription)
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
}

func TestStrategyThatIsBrokenLater(t *testing.T) {
	for _, from := range []phase{toInstalling, toSucceeded} {
		k := running(t)
		if from == toInstalling {
			d := k.deployment("manager")
			k.setStatus(d, appsv1.DeploymentStatus{ObservedGeneration: d.Generation})
			expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
		}
		edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy.StrategyName = "" })
		expect(t, k.pass("op.v1"), toFailed, "InvalidInstallStrategy", "")
		edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy.StrategyName = "deployment" })
		k.rollsOut("op.v1")
	}
}

// TestDetailsAreWrittenNowAndThen: what changes with every object that arrives is written now and then, and at once
// when the state changes.
func TestDetailsAreWrittenNowAndThen(t *testing.T) {
	csv := newCSV("op.v1")
	k := newCluster(t, newGroup(ns), csv)
	k.pass("op.v1")
	k.wrote()
	objects := permissions(t, csv)
	k.create(objects[0]) // the service account
	k.clock.SetTime(k.clock.Now().Add(300 * time.Millisecond))
	result, err := k.reconcile("op.v1")
	if err != nil || result.RequeueAfter != detailInterval-300*time.Millisecond || k.wrote() != nil {
		t.Errorf("details are written too soon, or looked at again after %s (%v)", result.RequeueAfter, err)
	}
	k.clock.SetTime(k.clock.Now().Add(result.RequeueAfter))
	if _, err := k.reconcile("op.v1"); err != nil || cmp.Diff([]string{statusWrite}, k.wrote()) != "" {
		t.Errorf("details are not written in the end (%v)", err)
	}
	k.create(objects[1:]...)
	must.Value(k.reconcile("op.v1"))(t)
	expect(t, k.csv("op.v1"), toInstalling, "InstallWaiting", "")
}

// TestANewRolloutHasItsOwnTime: an operator whose Deployments are changed while they are waited for is not called late for what was before.
func TestANewRolloutHasItsOwnTime(t *testing.T) {
	k := ready(t)
	k.create(&v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "sub"}, Spec: &v1alpha1.SubscriptionSpec{}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: "op.v1"},
	})
	k.pass("op.v1")
	k.pass("op.v1")
	k.clock.SetTime(k.clock.Now().Add(DefaultInstallTimeout - 10*time.Second))
	before := k.csv("op.v1")
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	must.Equal(t, "a pass that changes nothing gives it more time", !k.csv("op.v1").Status.LastTransitionTime.Equal(before.Status.LastTransitionTime), false)

	configure := func(value string) {
		edit(k, ns, "sub", &v1alpha1.Subscription{}, func(s *v1alpha1.Subscription) {
			s.Spec.Config = &v1alpha1.SubscriptionConfig{Env: []corev1.EnvVar{{Name: "FIX", Value: value}}}
		})
		if result, err := k.reconcile("op.v1"); err != nil || result.RequeueAfter != DefaultInstallTimeout {
			t.Errorf("looked at again after %s (%v), want %s", result.RequeueAfter, err, DefaultInstallTimeout)
		}
		got := k.csv("op.v1").Status
		if now := k.clock.Now(); !got.LastTransitionTime.Time.Equal(now) || got.LastUpdateTime.Time.Before(now) {
			t.Errorf("the rollout of %s began %s, was written %s, want %s", now, got.LastTransitionTime, got.LastUpdateTime, now)
		}
	}
	configure("1")
	k.clock.SetTime(k.clock.Now().Add(time.Second)) // sooner than details are written again
	configure("2")
	k.clock.SetTime(k.clock.Now().Add(DefaultInstallTimeout)) // at the very end of the time of the one before
	configure("3")
	k.wrote()
	for range 2 {
		k.pass("op.v1")
	}
	must.Empty(t, "writes of passes that change nothing", k.wrote())

	k.clock.SetTime(k.clock.Now().Add(DefaultInstallTimeout - time.Second))
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	k.clock.SetTime(k.clock.Now().Add(time.Second))
	expect(t, k.pass("op.v1"), toFailed, "InstallCheckFailed", "")
}

// TestAppliedInVainIsNoRollout: where the cluster takes a change back, as a mutating webhook can make it, the time is not prolonged for ever.
func TestAppliedInVainIsNoRollout(t *testing.T) {
	k := newCluster(t, newGroup(ns))
	k.create(newCSV("op.v1", withoutAccounts))
	k.pass("op.v1")
	k.pass("op.v1")
	before := k.csv("op.v1").Status.LastTransitionTime
	takeBack := func() {
		edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { delete(d.Labels, v1alpha1.DeploymentSpecHashLabel) })
	}
	k.clock.SetTime(k.clock.Now().Add(DefaultInstallTimeout - time.Second))
	takeBack()
	if csv := k.pass("op.v1"); csv.Status.Phase != toInstalling || !csv.Status.LastTransitionTime.Equal(before) {
		t.Errorf("%s since %s, want Installing since %s", csv.Status.Phase, csv.Status.LastTransitionTime, before)
	}
	k.clock.SetTime(k.clock.Now().Add(time.Second))
	takeBack()
	expect(t, k.pass("op.v1"), toFailed, "InstallCheckFailed", "")
}
