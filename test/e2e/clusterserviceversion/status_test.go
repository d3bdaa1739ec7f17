package clusterserviceversion

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// events are the Events about a CSV as type and reason.
func (w *world) events(name string) []string {
	w.Helper()
	var list corev1.EventList
	must.NoError(w, w.List(w.Context(), &list, client.InNamespace(w.Namespace)))
	var out []string
	for _, e := range list.Items {
		if e.InvolvedObject.Kind == "ClusterServiceVersion" && e.InvolvedObject.Name == name && e.Source.Component == "operator-lifecycle-manager" {
			out = append(out, e.Type+" "+e.Reason)
		}
	}
	return out
}

// TestEventsTellTheWay of an operator, from what is missing to the end.
func TestEventsTellTheWay(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1", w.owns("v1")))
	w.Is("op.v1", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet)
	w.makeCRD("v1")
	w.Succeeds("op.v1")
	want := []string{"Normal RequirementsUnknown", "Normal RequirementsNotMet", "Normal AllRequirementsMet", "Normal InstallSucceeded"}
	must.Eventually(w, "the Events to tell it", func() error {
		got := w.events("op.v1")
		for _, e := range want {
			if !slices.Contains(got, e) {
				return fmt.Errorf("%q is not among %q", e, got)
			}
		}
		return nil
	})
	w.Remove(w.operatorGroup())
	w.Is("op.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonNoOperatorGroup)
	must.Eventually(w, "the failure to be a warning", func() error {
		if got := w.events("op.v1"); !slices.Contains(got, "Warning NoOperatorGroup") {
			return fmt.Errorf("there are %q", got)
		}
		return nil
	})
}

// TestWhatMakesNoSenseIsTold in the status, and forgiven when it is corrected.
func TestWhatMakesNoSenseIsTold(t *testing.T) {
	t.Parallel()
	const strategies = "TestInvalidStrategies of internal/controller/clusterserviceversion with a fake API server"
	for name, tc := range map[string]struct {
		breaks  change
		reason  v1alpha1.ConditionReason
		message string
		byDay   string
	}{
		"a strategy that nobody knows": {
			func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy.StrategyName = "helm" },
			v1alpha1.CSVReasonInvalidStrategy, `spec.install.strategy "helm" is not known`, strategies,
		},
		"a rule without verbs": {
			strategy(func(s *v1alpha1.StrategyDetailsDeployment) { s.Permissions[0].Rules[0].Verbs = []string{} }),
			v1alpha1.CSVReasonInvalidStrategy, "it has no verbs", strategies,
		},
		"a CRD name without a dot": {
			func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things", Version: "v1", Kind: "Thing"}}
			},
			v1alpha1.CSVReasonInvalidStrategy, `"things"`, strategies,
		},
		"two Deployments of one name": {
			strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
				s.DeploymentSpecs = append(s.DeploymentSpecs, s.DeploymentSpecs[0])
			}),
			v1alpha1.CSVReasonInvalidStrategy, `names "manager" more than once`, "",
		},
		"a pod that the cluster refuses": {
			strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
				s.DeploymentSpecs[0].Spec.Template.Spec.Containers = []corev1.Container{}
			}),
			v1alpha1.CSVReasonComponentFailedNoRetry, "spec.template.spec.containers: Required value", "",
		},
		"a mode listed twice": {
			func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallModes = append(csv.Spec.InstallModes, csv.Spec.InstallModes[0])
			},
			v1alpha1.CSVReasonInvalidInstallModes, "OwnNamespace more than once", "TestGates of internal/controller/clusterserviceversion with a fake API server",
		},
		"no mode at all": {
			func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallModes = nil },
			v1alpha1.CSVReasonUnsupportedOperatorGroup, "its author has to set one in spec.installModes", "TestModesAndGroups of internal/controller/clusterserviceversion with a fake API server",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.byDay != "" {
				sweep.Nightly(t, tc.byDay)
			}
			w := newWorld(t)
			good, bad := w.operator("op.v1"), w.operator("op.v1", tc.breaks)
			w.Make(bad)
			good.UID = bad.UID
			w.Make(w.permissions(good)...)
			csv := w.Is("op.v1", v1alpha1.CSVPhaseFailed, tc.reason)
			must.Contain(t, "message", csv.Status.Message, tc.message)
			edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec = good.Spec })
			w.Succeeds("op.v1")
		})
	}
}

// TestServiceAccountOfTheGroup: an install is limited to its rights; the failure names it, and granting the rights or taking the account
// out of the group mends it without anybody touching the operator.
func TestServiceAccountOfTheGroup(t *testing.T) {
	for name, mend := range map[string]func(w *world){
		"rights are granted": func(w *world) {
			w.Make(&rbacv1.Role{ObjectMeta: w.Named("installer"), Rules: []rbacv1.PolicyRule{{
				Verbs: []string{"create", "get", "patch", "delete"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}}}},
				&rbacv1.RoleBinding{ObjectMeta: w.Named("installer"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "installer"},
					Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.Namespace, Name: "installer"}}})
		},
		"the group names no account": func(w *world) {
			edit(w, "group", &operatorsv1.OperatorGroup{}, func(g *operatorsv1.OperatorGroup) { g.Spec.ServiceAccountName = "" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "the group names no account" {
				sweep.Nightly(t, "TestInstallIsLimitedByTheAccountOfTheGroup of internal/controller/clusterserviceversion with a fake API server")
			}
			w := newWorldAlone(t)
			edit(w, "group", &operatorsv1.OperatorGroup{}, func(g *operatorsv1.OperatorGroup) { g.Spec.ServiceAccountName = "installer" })
			w.install(w.operator("op.v1"))
			csv := w.Is("op.v1", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsMet)
			must.Contain(t, "message", csv.Status.Message, "please make sure the service account exists. sa=installer operatorgroup="+w.Namespace+"/group")
			w.Make(&corev1.ServiceAccount{ObjectMeta: w.Named("installer")})
			csv = w.Is("op.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonComponentFailedNoRetry)
			for _, want := range []string{"install strategy failed: create Deployment", "forbidden", "system:serviceaccount:" + w.Namespace + ":installer", "of OperatorGroup group"} {
				must.Contain(t, "message", csv.Status.Message, want)
			}
			if w.deployment("manager") != nil {
				t.Fatal("the Deployment was made without the rights to make it")
			}
			mend(w)
			w.promptly("the install to go on", func() error {
				if w.deployment("manager") == nil {
					return fmt.Errorf("there is no Deployment")
				}
				return nil
			})
			w.Succeeds("op.v1")
		})
	}
}

// requests are what a manager asks of the API server, besides watching.
type requests struct {
	mu   sync.Mutex
	made []string
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *requests) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.made
	r.made = nil
	return out
}

// TestWaitingCostsNothing: operators that wait for a CRD, for their pods or for nothing at all are not asked about. The restart of the
// manager alone changes nothing either.
func TestWaitingCostsNothing(t *testing.T) {
	w := newWorldAlone(t)
	w.install(w.operator("runs.v1"))
	w.Succeeds("runs.v1")
	w.Make(w.operator("waits.v1", w.owns("v1"), withoutPermissions, withDeployments("waiting")))
	w.Is("waits.v1", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet)
	w.Make(w.operator("starts.v1", withDeployments("starting"), withoutPermissions, strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
		s.DeploymentSpecs[0].Spec.Template.Spec.NodeSelector = map[string]string{"example.com/nowhere": "true"}
	})))
	w.Eventually("the pod of starts.v1 to be unschedulable", func() error {
		var pods corev1.PodList
		must.NoError(t, w.List(t.Context(), &pods, client.InNamespace(w.Namespace), client.MatchingLabels{"app": "starting"}))
		for _, p := range pods.Items {
			for _, c := range p.Status.Conditions {
				if c.Reason == corev1.PodReasonUnschedulable {
					return nil
				}
			}
		}
		return fmt.Errorf("none of %d pods is", len(pods.Items))
	})
	// Pods are not watched, and are read every 30 seconds, or with the next change.
	edit(w, "starts.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		metav1.SetMetaDataLabel(&csv.ObjectMeta, "look", "again")
	})
	w.Eventually("starts.v1 to report what its pod waits for", func() error {
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := w.Check(csv, "starts.v1", v1alpha1.CSVPhaseInstalling, v1alpha1.CSVReasonWaiting); err != nil {
			return err
		}
		if !strings.Contains(csv.Status.Message, "cannot be scheduled") {
			return fmt.Errorf("it reports %q", csv.Status.Message)
		}
		return nil
	})
	time.Sleep(2 * calm) // details are written now and then, five seconds apart
	versions := w.versions()

	counted := &requests{}
	config := devcluster.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if q := request.URL.Query(); strings.Contains(request.URL.Path, w.Namespace) && q.Get("watch") == "" {
				counted.mu.Lock()
				counted.made = append(counted.made, request.Method+" "+request.URL.Path)
				counted.mu.Unlock()
			}
			return next.RoundTrip(request)
		})
	})
	harness.Run(t, manager.Options{Config: config, Namespaces: []string{w.Namespace}})
	time.Sleep(calm) // the caches are filled, and everything is looked at once
	for _, request := range counted.take() {
		if !strings.HasPrefix(request, "GET ") {
			t.Errorf("the start of a manager wrote: %s", request)
		}
	}
	time.Sleep(2 * calm)
	must.Empty(t, "requests while nothing happened", counted.take())
	for name, before := range versions {
		must.Equal(t, fmt.Sprintf("%s was written: %s, then", name, before), w.versions()[name], before)
	}
}

// versions are the resource versions of the CSVs.
func (w *world) versions() map[string]string {
	w.Helper()
	var list v1alpha1.ClusterServiceVersionList
	must.NoError(w, w.List(w.Context(), &list, client.InNamespace(w.Namespace)))
	out := map[string]string{}
	for _, csv := range list.Items {
		out[csv.Name] = csv.ResourceVersion
	}
	return out
}

// TestForeignFinalizer keeps a CSV that is deleted; what belonged to the operator goes when the finalizer does.
func TestForeignFinalizer(t *testing.T) {
	w := newWorld(t)
	csv := w.operator("op.v1")
	csv.Finalizers = []string{"example.com/hold"}
	w.install(csv)
	w.Succeeds("op.v1")
	w.Remove(csv)
	must.Eventually(w, "the finalizer of the manager to go", func() error {
		live := &v1alpha1.ClusterServiceVersion{}
		if !w.Read("op.v1", live) || slices.Contains(live.Finalizers, v1alpha1.CSVCleanupFinalizer) {
			return fmt.Errorf("finalizers %v", live.Finalizers)
		}
		return nil
	})
	if w.deployment("manager") == nil {
		t.Error("the Deployment went before its CSV")
	}
	edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Finalizers = nil })
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	must.Eventually(w, "the operator to go", func() error {
		if w.deployment("manager") != nil {
			return fmt.Errorf("the Deployment is there")
		}
		return nil
	})
}
