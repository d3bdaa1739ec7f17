package installplan

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMain has a cluster of its own: the example operators are those of other packages too, and a cluster has their definitions once, so that
// versions of one package would meet operators of another.
func TestMain(m *testing.M) { devcluster.MainAlone(m) }

// patience is how long a test waits for what takes seconds on an idle machine.
const patience = 2 * time.Minute

// outage is a namespace with a manager whose way to the API server is through a gate. The test itself goes past it.
type outage struct {
	*testing.T
	client.Client
	gate      *gate
	namespace string
	published []bundleio.PublishedBundle
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	t.Parallel()
	config := devcluster.Config()
	server := must.Value(url.Parse(config.Host))(t)
	o := &outage{T: t, Client: harness.Client(t, config), gate: newGate(t, server.Host), namespace: devcluster.Namespace(t)}
	through := rest.CopyConfig(config)
	through.Host = "https://" + o.gate.listener.Addr().String()
	if through.TLSClientConfig.ServerName == "" {
		through.TLSClientConfig.ServerName = server.Hostname()
	}
	harness.Run(t, manager.Options{Config: through, Namespaces: []string{o.namespace}})
	t.Cleanup(func() { o.gate.set(false) }) // before the manager is stopped
	return o
}

func (o *outage) publisher() bundleio.Publisher {
	return bundleio.Publisher{Registry: devcluster.Registry() + "/" + o.namespace}
}

// publish makes the catalog one that has some versions of the example operators.
func (o *outage) publish(versions ...string) {
	o.Helper()
	if o.published == nil {
		tree, err := fs.Sub(examples.Bundles, "bundles")
		if err != nil {
			o.Fatal(err)
		}
		if o.published, err = o.publisher().Bundles(o.Context(), tree); err != nil {
			o.Fatal(err)
		}
	}
	offered := slices.DeleteFunc(slices.Clone(o.published), func(p bundleio.PublishedBundle) bool { return !slices.Contains(versions, p.Bundle.Version.String()) })
	c := must.Value(bundleio.Linear(offered))(o)
	must.Value(o.publisher().Catalog(o.Context(), c, "catalog:latest"))(o)
}

func (o *outage) subscribe() {
	o.Helper()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: o.namespace, Name: name} }
	second := v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: time.Second}, RawInterval: "1s"}}
	for _, object := range []client.Object{
		o.own("own"),
		&v1alpha1.CatalogSource{ObjectMeta: meta("catalog"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc,
			Image: o.publisher().Registry + "/catalog:latest", UpdateStrategy: &second}},
		&v1alpha1.Subscription{ObjectMeta: meta("guestbook"), Spec: &v1alpha1.SubscriptionSpec{CatalogSource: "catalog", CatalogSourceNamespace: o.namespace, Package: "guestbook-operator"}},
	} {
		must.NoError(o, o.Create(o.Context(), object))
	}
}

func (o *outage) plans() []v1alpha1.InstallPlan {
	o.Helper()
	var list v1alpha1.InstallPlanList
	must.NoError(o, o.List(o.Context(), &list, client.InNamespace(o.namespace)))
	return list.Items
}

// check looks for statuses that contradict themselves, and for plans that stand for the same.
func (o *outage) check() {
	o.Helper()
	seen := map[string]string{}
	for _, p := range o.plans() {
		installed := p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Status
		if complete := p.Status.Phase == v1alpha1.InstallPlanPhaseComplete; complete != (installed == corev1.ConditionTrue) {
			o.Errorf("InstallPlan %s is %s, and Installed is %s", p.Name, p.Status.Phase, installed)
		}
		if p.Status.Phase == v1alpha1.InstallPlanPhaseFailed {
			o.Errorf("InstallPlan %s failed: %s", p.Name, p.Status.Message)
		}
		what := fmt.Sprint(p.Spec.ClusterServiceVersionNames)
		if seen[what] != "" {
			o.Errorf("InstallPlans %s and %s are both for %s", p.Name, seen[what], what)
		}
		seen[what] = p.Name
	}
}

// runs waits until a version of both operators runs, and everything that was planned is done.
func (o *outage) runs(version string) {
	o.Helper()
	done := func() error {
		for _, name := range []string{"guestbook-operator.v" + version, "greeter-operator.v" + version} {
			csv := &v1alpha1.ClusterServiceVersion{}
			if err := o.Get(o.Context(), client.ObjectKey{Namespace: o.namespace, Name: name}, csv); err != nil {
				return err
			}
			if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
				return fmt.Errorf("%s is %s: %s", name, csv.Status.Phase, csv.Status.Message)
			}
		}
		for _, p := range o.plans() {
			if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
				return fmt.Errorf("InstallPlan %s is %s: %s", p.Name, p.Status.Phase, p.Status.Message)
			}
		}
		return nil
	}
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = done(); err == nil {
			return
		}
	}
	for _, p := range o.plans() {
		o.Logf("InstallPlan %s for %v is %s: %s", p.Name, p.Spec.ClusterServiceVersionNames, p.Status.Phase, p.Status.Message)
	}
	var subscriptions v1alpha1.SubscriptionList
	if err := o.List(o.Context(), &subscriptions, client.InNamespace(o.namespace)); err != nil {
		o.Error(err)
	}
	for _, sub := range subscriptions.Items {
		o.Logf("Subscription %s: %+v", sub.Name, sub.Status.Conditions)
	}
	o.Fatalf("version %s does not run after %s: %v", version, patience, err)
}

// TestAPIServerComesAndGoes while operators are installed, and is away for longer when they are to be upgraded. Nothing is given up, done
// twice or left half done.
func TestAPIServerComesAndGoes(t *testing.T) {
	o := newOutage(t)
	o.publish("1.0.0")
	rng := rand.New(rand.NewPCG(5, 15))
	o.subscribe()
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
		for _, closed := range []bool{true, false} {
			o.gate.set(closed)
			time.Sleep(time.Duration(50+rng.IntN(350)) * time.Millisecond)
			o.check()
		}
	}
	o.runs("1.0.0")
	o.check()
	o.publish("1.0.0", "1.0.1")
	for range 3 {
		o.gate.set(true)
		time.Sleep(3 * time.Second)
		o.gate.set(false)
		time.Sleep(400 * time.Millisecond)
	}
	o.runs("1.0.1")
	o.check()
	if o.gate.broken < 10 {
		t.Errorf("only %d connections were broken", o.gate.broken)
	}
}
