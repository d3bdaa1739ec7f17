package ops

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// notes are those of a diagnosis, with the checks that they are of.
func (d *Diagnosis) notes() []string {
	var lines []string
	for _, c := range d.Checks {
		for _, note := range c.Notes {
			lines = append(lines, c.Name+": "+note)
		}
	}
	return lines
}

// younger is a Deployment whose pods are available for a while.
func younger(d *appsv1.Deployment, ago time.Duration) *appsv1.Deployment {
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(examined.Add(-ago))}}
	return d
}

// TestDoctorsLeases: a lease is judged by the Deployments that take it, in whatever order namespaces come, and one that is left over is no fault.
func TestDoctorsLeases(t *testing.T) {
	const left = " is left over from old, which renewed it last 1h0m1s ago and does not run any more; nothing needs it: kubectl -n olm delete lease fairlead-manager"
	const stale = ": no manager leads: old renewed the lease 1h0m1s ago, and leaders do so every few seconds"
	alone := func(d *appsv1.Deployment) *appsv1.Deployment {
		d.Spec.Template.Spec.Containers[0].Args = []string{"--global-namespace=olm"}
		return d
	}
	old := func(namespace string) client.Object { return leased(namespace, managerName, "old_1", time.Hour, 0) }
	fresh := func(namespace string) client.Object {
		return leased(namespace, managerName, "new_1", time.Second, 0)
	}
	rights := func(w *ward, namespace string, args ...string) *appsv1.Deployment { // with those of the shipped account
		d := managerDeployment(namespace, managerName, append(args, "--namespaces="+namespace, "--apis=v0")...)
		w.add(d)
		return d
	}
	for name, test := range map[string]struct {
		change      func(*ward)
		want, notes []string
	}{
		"of a manager that was removed": {func(w *ward) {
			w.drop("Deployment olm/" + managerName)
			w.add(old("olm"))
		}, nil, []string{"manager: Lease olm/fairlead-manager" + left, "manager: there is no Deployment with the label app=fairlead-manager and no lease is held; nothing waits for a manager, so one may run outside of the cluster, as fairlead manager does"}},
		"of a manager that was removed, with nothing else of it": {func(w *ward) {
			w.drop("Deployment olm/"+managerName, "CatalogSource olm/samples", "ClusterCatalog community")
			w.add(old("olm"))
		}, []string{"manager: cluster: no manager runs: there is no Deployment with the label app=fairlead-manager in any namespace, Lease olm/fairlead-manager is not held, and no object that a manager has worked on"},
			[]string{"manager: Lease olm/fairlead-manager" + left}},
		"of one that was moved to an earlier namespace": {func(w *ward) {
			w.drop("Deployment olm/" + managerName)
			rights(w, "alpha")
			w.add(old("olm"), fresh("alpha"))
		}, nil, []string{"manager: Lease olm/fairlead-manager" + left}},
		"of one that was moved to a later namespace": {func(w *ward) {
			w.drop("Deployment olm/" + managerName)
			rights(w, "zeta")
			w.add(old("olm"), fresh("zeta"))
		}, nil, []string{"manager: Lease olm/fairlead-manager" + left}},
		"of two that hang": {func(w *ward) {
			w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName)
			rights(w, "zeta")
			rights(w, "alpha")
			w.add(old("alpha"), old("zeta"))
		}, []string{"manager: Lease alpha/fairlead-manager" + stale, "manager: Lease zeta/fairlead-manager" + stale}, nil},
		"of one that hangs beside one without pods": {func(w *ward) {
			w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName)
			rights(w, "alpha").Status = appsv1.DeploymentStatus{}
			rights(w, "zeta")
			w.add(old("alpha"), old("zeta"))
		}, []string{"manager: Deployment alpha/fairlead-manager: no manager runs: 0 of 2 pods are available", "manager: Lease zeta/fairlead-manager" + stale}, nil},
		"in a namespace that a flag names": {func(w *ward) {
			w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName)
			rights(w, "alpha", "--leader-namespace", "leases")
			w.add(fresh("leases"))
		}, nil, nil},
		"that is not there": {func(w *ward) { w.drop("Lease olm/" + managerName) },
			[]string{"manager: Deployment olm/fairlead-manager: no manager leads: its pods have been available for more than 1m0s and wait for Lease olm/fairlead-manager, which does not exist"}, nil},
		"that is not there yet": {func(w *ward) {
			w.drop("Lease olm/" + managerName)
			w.add(younger(managerDeployment("olm", managerName), 5*time.Second))
		}, nil, []string{"manager: no manager leads yet: Lease olm/fairlead-manager is not there, and Deployment olm/fairlead-manager has just begun"}},
		"that no one has ever held": {func(w *ward) {
			l := leased("olm", managerName, "", time.Hour, 0)
			l.Spec.RenewTime = nil
			w.add(l)
		}, []string{"manager: Lease olm/fairlead-manager: no manager leads: no one has held the lease since it was made, 1h0m1s ago"}, nil},
		"that is not asked for, and two pods work": {func(w *ward) {
			w.drop("Lease olm/" + managerName)
			w.add(alone(managerDeployment("olm", managerName)))
		}, []string{"manager: Deployment olm/fairlead-manager: all of its 2 pods work on the same objects: it runs without --leader-election"}, nil},
		"that is not asked for, and one pod works": {func(w *ward) {
			w.drop("Lease olm/" + managerName)
			d := alone(managerDeployment("olm", managerName))
			d.Spec.Replicas, d.Status.AvailableReplicas = new(int32(1)), 1
			w.add(d)
		}, nil, nil},
		"that is switched off by its value": {func(w *ward) {
			w.drop("Lease olm/" + managerName)
			d := managerDeployment("olm", managerName, "--leader-election=false")
			d.Spec.Replicas, d.Status.AvailableReplicas = new(int32(1)), 1
			w.add(d)
		}, nil, nil},
		"of a second manager, without a Deployment": {func(w *ward) {
			rights(w, "zeta", "--leader-namespace=zeta-leases")
			w.drop("Deployment olm/" + managerName)
			w.add(fresh("zeta-leases"), fresh("olm"))
		}, nil, []string{"other managers: new, which leads by Lease olm/fairlead-manager, is a second manager of Fairlead: stop it where it works on the same namespaces as Deployment zeta/fairlead-manager"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			test.change(w)
			d := w.examine(0)
			must.Equal(t, "findings", d.found(), test.want)
			var notes []string
			for _, note := range d.notes() {
				if !strings.HasPrefix(note, "rights: ") { // of a manager of some namespaces
					notes = append(notes, note)
				}
			}
			must.Equal(t, "notes", notes, test.notes)
		})
	}
}

// unavailable is the answer of an API server for lists and objects of some kinds.
func unavailable[T any](err error) func(context.Context, client.ObjectList) error {
	return func(_ context.Context, list client.ObjectList) error {
		if _, is := list.(T); is {
			return err
		}
		return nil
	}
}

// TestDoctorReportsWhatItCannotRead: whether something waits for a manager is not known where it cannot be read, for whatever reason.
func TestDoctorReportsWhatItCannotRead(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want []string
		note string
	}{
		"an error":  {apierrors.NewInternalError(errors.New("etcd is away")), []string{"manager: ClusterExtensions: cannot be read: Internal error occurred: etcd is away"}, "nothing waits"},
		"forbidden": {apierrors.NewForbidden(schema.GroupResource{Resource: "clusterextensions"}, "", errors.New("no")), nil, "you may not read ClusterExtensions"},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName)
			w.list = unavailable[*olmv1.ClusterExtensionList](test.err)
			d := w.examine(0)
			must.Equal(t, "findings", d.found(), test.want)
			must.Contain(t, "notes", strings.Join(d.notes(), "\n"), test.note)
		})
	}
}

// others is a cluster that another lifecycle manager works on.
func others(t *testing.T) *ward {
	t.Helper()
	w := well(t)
	w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName, "ClusterCatalog community", "CustomResourceDefinition clusterextensions.olm.operatorframework.io")
	status := objectOf[*apiextensionsv1.CustomResourceDefinition](w, "CustomResourceDefinition subscriptions.operators.coreos.com").Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	delete(status.Properties, "observedGeneration")
	objectOf[*v1alpha1.CatalogSource](w, "CatalogSource olm/samples").Status.Conditions = nil
	for _, name := range []string{"olm-operator", "catalog-operator"} {
		w.add(&appsv1.Deployment{ObjectMeta: named("olm", name), Status: appsv1.DeploymentStatus{AvailableReplicas: 1}})
	}
	return w
}

// TestDoctorOfAnotherManager: a cluster that another lifecycle manager works on is not a broken one of Fairlead; what that means is said.
func TestDoctorOfAnotherManager(t *testing.T) {
	d := others(t).examine(0)
	must.Equal(t, "findings", d.found(), nil)
	var out bytes.Buffer
	must.NoError(t, d.Write(&out))
	must.Contain(t, "report", out.String(), `· manager             another lifecycle manager than Fairlead's
    note: this cluster is managed by Deployment olm/catalog-operator (v0 API), Deployment olm/olm-operator (v0 API)
    note: fairlead's commands read and write the same objects, but the condition Ready is Fairlead's own: status calls what lacks it not reconciled, and install, upgrade and approve need --wait 0. Upgrade windows, holds and automatic rollback have no effect
    note: do not run Fairlead's manager for the same API beside it: two managers undo each other's work; docs/migrating.md says how to go from the other implementation to this one
`, "✓ other managers      Deployment olm/catalog-operator, Deployment olm/olm-operator; none of Fairlead's beside them\n",
		"✓ definitions         not compared: they are those of the other lifecycle manager\n", "12 checks: 11 found nothing wrong, 0 failed, 1 with notes only\n")

	w := others(t)
	objectOf[*appsv1.Deployment](w, "Deployment olm/olm-operator").Status.AvailableReplicas = 0
	d = w.examine(0)
	must.Equal(t, "one that does not run", d.found(), []string{"manager: Deployment olm/olm-operator: this cluster is managed by it (v0 API), and it does not run: 0 of 1 pods are available"})
	must.Equal(t, "what to do", d.Checks[1].Findings[0].Remedy, "see why: kubectl -n olm describe deployment olm-operator")

	w = others(t)
	w.add(&olmv1.ClusterExtension{ObjectMeta: named("", "kite")})
	d = w.examine(0)
	must.Equal(t, "what waits for a manager of the other API", d.found(), []string{"manager: ClusterExtension kite: no manager works on its API: nothing has worked on it in 1m0s, there is no Deployment with the label app=fairlead-manager and no lease is held"})
	must.Equal(t, "what to do", d.Checks[1].Findings[0].Remedy, installBeside["v1"])

	w = others(t)
	stopped := managerDeployment("olm", managerName, "--apis=v0")
	stopped.Spec.Replicas = new(int32(0))
	w.add(stopped)
	d = w.examine(0)
	must.Contain(t, "beside a manager that is scaled to 0", strings.Join(append(d.found(), d.notes()...), "\n"), "manager: Deployment olm/fairlead-manager: no manager runs: it is scaled to 0",
		"manager: Deployment olm/olm-operator, of another lifecycle manager, works on the v0 API: stop it before one of Fairlead's runs")

	w = others(t)
	w.drop("Deployment olm/olm-operator", "Deployment olm/catalog-operator")
	w.add(leased("olmv1-system", "9c4404e7.operatorframework.io", "operator-controller-1_2", time.Second, 0))
	d = w.examine(0)
	must.Contain(t, "one outside of the cluster", strings.Join(d.notes(), "\n"), "this cluster is managed by operator-controller-1, by Lease olmv1-system/9c4404e7.operatorframework.io (v1 API)")
	must.Equal(t, "what waits for one of v0", d.found(), []string{"manager: CatalogSource olm/samples: no manager works on its API: nothing has worked on it in 1m0s, there is no Deployment with the label app=fairlead-manager and no lease is held"})
	must.Equal(t, "what to do", d.Checks[1].Findings[0].Remedy, installBeside["v0"])

	w = well(t)
	w.add(managerDeployment("olm", managerName, "--apis=v0"), &appsv1.Deployment{ObjectMeta: named("olmv1-system", "operator-controller-controller-manager")})
	must.Equal(t, "beside Fairlead's, for the other API", w.examine(0).Checks[3].Summary, "Deployment olmv1-system/operator-controller-controller-manager beside Fairlead's")
}

// TestDoctorAsksForTwoSigns: a Deployment whose name alone is that of another lifecycle manager is none.
func TestDoctorAsksForTwoSigns(t *testing.T) {
	for name, test := range map[string]struct {
		namespace, name, image, account string
		is                              bool
	}{
		"the name alone":          {"shop", "catalog-operator", "registry.example.com/shop/catalog-operator:v1", "catalog-operator", false},
		"the image of another":    {"shop", "catalog-operator", "registry.example.com:5000/catalogd:v1", "default", false},
		"no account":              {"shop", "catalogd-controller-manager", "registry.example.com/shop", "", false},
		"a usual namespace":       {"openshift-operator-lifecycle-manager", "catalog-operator", "registry.example.com/release@sha256:00", "default", true},
		"its image":               {"team", "olm-operator", "quay.io/operator-framework/olm@sha256:00", "default", true},
		"its image, of a mirror":  {"team", "catalogd-controller-manager", "registry.example.com:5000/mirror/catalogd:v1@sha256:00", "default", true},
		"its account":             {"team", "olm-operator", "registry.example.com/release", "olm-operator-serviceaccount", true},
		"the image without names": {"team", "manager", "quay.io/operator-framework/olm:v1", "olm-operator-serviceaccount", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: named(test.namespace, test.name)}
			d.Spec.Template.Spec.ServiceAccountName = test.account
			d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "registry.example.com/proxy"}, {Image: test.image}}
			w := well(t)
			w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName)
			w.add(d)
			foreign := strings.Contains(strings.Join(w.examine(0).notes(), "\n"), "this cluster is managed by Deployment "+test.namespace+"/"+test.name)
			must.Equal(t, "it manages the cluster", foreign, test.is)
		})
	}
}
