package install

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// removal are the commands below a heading of the page on installing.
func removal(t *testing.T, heading string) []string {
	t.Helper()
	page := must.Value(os.ReadFile("../../docs/installing.md"))(t)
	_, section, found := strings.Cut(string(page), "\n### "+heading+"\n")
	if !found {
		t.Fatalf("there is no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n#")
	var commands []string
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "    kubectl "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	if len(commands) < 4 {
		t.Fatalf("below %q there are the commands %q only", heading, commands)
	}
	return commands
}

// types gives commands to kubectl. The manager of the test stands for that in the pods: it stops when its Deployment is scaled down.
func (w *world) types(commands []string, stop func()) {
	w.t.Helper()
	for _, command := range commands {
		if strings.Contains(command, "scale deployment/fairlead-manager --replicas=0") {
			stop()
		}
		run := exec.CommandContext(w.t.Context(), "kubectl", strings.Fields(command)...)
		run.Dir, run.Env = "../..", append(os.Environ(), "KUBECONFIG="+w.kubeconfig)
		out, err := run.CombinedOutput()
		w.t.Logf("$ kubectl %s\n%s", command, out)
		if err != nil {
			w.t.Fatalf("kubectl %s: %v", command, err)
		}
	}
}

func needsKubectl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("this machine has no kubectl")
	}
}

// installed applies the manifests, runs the manager and installs an operator.
func (w *world) installed() (csv *v1alpha1.ClusterServiceVersion, stop func()) {
	w.t.Helper()
	harness.Apply(w.t.Context(), w.t, w, harness.Kustomized(w.t, config))
	w.deploymentRuns("olm", "fairlead-manager")
	stop = w.run(w.asManager())
	harness.Apply(w.t.Context(), w.t, w, harness.Kustomized(w.t, filepath.Join(config, "defaults")))
	w.create(source("samples", ofImage(w.catalog("1.1.0"))), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: operatorsNamespace, Name: "greeter"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "greeter-operator", CatalogSource: "samples", CatalogSourceNamespace: "olm"}})
	csv = w.succeeds(operatorsNamespace, "greeter-operator.v1.1.0")
	w.packageIsShown("greeter-operator")
	return csv, stop
}

// TestRemovingTheManager types what the page says: the operator is not touched, nothing of the manager is left, namespaces can be deleted,
// and a manager that comes back continues. Then everything is removed, the kinds of the operator included, and the cluster is as it was.
func TestRemovingTheManager(t *testing.T) {
	needsKubectl(t)
	w := ownWorld(t)
	everything := w.everything()
	csv, stop := w.installed()
	name := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Name
	before := w.operatorObjects(name)
	w.types(removal(t, "Removing the manager, and keeping the operators"), stop)
	for _, o := range harness.Kustomized(t, config) {
		switch err := w.Get(t.Context(), client.ObjectKeyFromObject(o), o); {
		case o.GetKind() == "Namespace" && (err != nil || o.GetDeletionTimestamp() != nil):
			t.Errorf("namespace %s is gone, or going: %v", o.GetName(), err)
		case o.GetKind() != "Namespace" && !apierrors.IsNotFound(err):
			t.Errorf("%s %s of the manager is left: %v", o.GetKind(), o.GetName(), err)
		}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "can-be-deleted"}}
	w.create(namespace)
	must.NoError(t, w.Delete(t.Context(), namespace))
	w.gone(namespace)
	must.Equal(t, "the operator was touched", w.operatorObjects(name), before)
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, config))
	w.deploymentRuns("olm", "fairlead-manager")
	stop = w.run(w.asManager())
	w.packageIsShown("greeter-operator")
	must.Equal(t, "the operator was touched by the manager that came back", w.operatorObjects(name), before)

	w.types(removal(t, "Removing everything"), stop)
	for _, owned := range csv.Spec.CustomResourceDefinitions.Owned {
		w.types([]string{"delete crd " + owned.Name}, nil)
	}
	must.Eventually(w.t, "what is left to be collected", func() error {
		var left []string
		for what := range w.everything() {
			if !everything[what] {
				left = append(left, what)
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("%q is left", left)
		}
		return nil
	})
	w.installed() // as on a new cluster
}

// operatorObjects are the ClusterServiceVersion, the Deployment and its pods: who was made again is another one.
func (w *world) operatorObjects(deployment string) map[string]string {
	w.t.Helper()
	w.deploymentRuns(operatorsNamespace, deployment)
	seen := map[string]string{}
	d := &appsv1.Deployment{}
	must.NoError(w.t, w.Get(w.t.Context(), client.ObjectKey{Namespace: operatorsNamespace, Name: deployment}, d))
	seen["Deployment"] = fmt.Sprint(d.UID, " generation ", d.Generation)
	var pods corev1.PodList
	var csvs v1alpha1.ClusterServiceVersionList
	must.NoError(w.t, errors.Join(w.List(w.t.Context(), &pods, client.InNamespace(operatorsNamespace)), w.List(w.t.Context(), &csvs, client.InNamespace(operatorsNamespace))))
	for _, p := range pods.Items {
		seen["Pod "+p.Name] = fmt.Sprint(p.UID, " going: ", p.DeletionTimestamp != nil)
	}
	for _, c := range csvs.Items {
		seen["ClusterServiceVersion "+c.Name] = fmt.Sprint(c.UID, " ", c.Status.Phase, " going: ", c.DeletionTimestamp != nil)
	}
	return seen
}

// everything are the names of all objects of a cluster that somebody has made.
func (w *world) everything() map[string]bool {
	w.t.Helper()
	kinds := must.Value(discovery.NewDiscoveryClientForConfigOrDie(w.admin).ServerPreferredResources())(w.t)
	objects, all := metadata.NewForConfigOrDie(w.admin), map[string]bool{}
	for _, kind := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, kinds) {
		for _, r := range kind.APIResources {
			if r.Name == "events" || r.Name == "endpoints" || r.Name == "leases" && kind.GroupVersion == "coordination.k8s.io/v1" {
				continue // leases of the parts of the cluster itself; and there are EndpointSlices
			}
			gvr := (&unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.GroupVersion}}).GroupVersionKind().GroupVersion().WithResource(r.Name)
			list, err := objects.Resource(gvr).List(w.t.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				continue // its definition has gone in between
			}
			if err != nil {
				w.t.Fatalf("list %s: %v", gvr, err)
			}
			for i := range list.Items {
				all[fmt.Sprintf("%s %s/%s", r.Name, list.Items[i].Namespace, list.Items[i].Name)] = true
			}
		}
	}
	return all
}
