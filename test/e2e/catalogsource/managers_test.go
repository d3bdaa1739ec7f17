package catalogsource

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// versions are those of all that leads to the catalog, and of the CatalogSource.
func (w *world) versions() (map[string]string, error) {
	found := map[string]string{}
	var slices discoveryv1.EndpointSliceList
	if err := w.List(w.Context(), &slices, client.InNamespace(w.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: "catalog"}); err != nil {
		return nil, err
	}
	for _, s := range slices.Items {
		found[s.Endpoints[0].Addresses[0]] = s.ResourceVersion
	}
	var service corev1.Service
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "catalog"}, &service); err != nil {
		return nil, err
	}
	s, err := w.source()
	found["Service"], found["CatalogSource"] = service.ResourceVersion, fmt.Sprint(s.Status.Conditions, s.Status.GRPCConnectionState)
	return found, err
}

// TestManagersSideBySide: each has its way to the catalog, at ports of their own, and once both are there nobody writes any more.
func TestManagersSideBySide(t *testing.T) {
	w := newWorld(t)
	w.publish(operator{pkg: "op", version: "1.0.0"})
	for _, advertised := range []string{"192.0.2.1:50051", "192.0.2.2:4711"} {
		w.run(devcluster.Config(), func(o *manager.Options) { o.CatalogAddress, o.CatalogAdvertise = harness.FreeAddress(t), advertised })
	}
	s := w.catalogSource()
	s.Spec.UpdateStrategy = nil
	w.Make(s)
	must.Eventually(w, "both to serve", func() error {
		got, err := w.versions()
		if err == nil && (got["192.0.2.1"] == "" || got["192.0.2.2"] == "") {
			err = fmt.Errorf("there are %v", got)
		}
		return err
	})
	var before map[string]string
	must.Eventually(w, "both to come to rest", func() error {
		earlier := must.Value(w.versions())(t)
		time.Sleep(2 * time.Second) // for what is still on its way
		if before = must.Value(w.versions())(t); !maps.Equal(earlier, before) {
			return fmt.Errorf("%v became %v", earlier, before)
		}
		return nil
	})
	time.Sleep(5 * time.Second) // for what should not happen
	after := must.Value(w.versions())(t)
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("they fight: %v, later %v", before, after)
	}
}

// TestTheAPIServerComesAndGoes: the catalog is followed as soon as that can be told, no status is without a reason or worse than the truth.
func TestTheAPIServerComesAndGoes(t *testing.T) {
	w := newWorld(t)
	w.publish(operator{pkg: "op", version: "1.0.0"})
	g := &gate{}
	w.run(g.through(devcluster.Config()), func(o *manager.Options) {
		o.CatalogAddress, o.CatalogAdvertise = harness.FreeAddress(t), "192.0.2.3:50051"
	})
	dice := rand.New(rand.NewPCG(5, 21))
	flap := func(during time.Duration) {
		for end := time.Now().Add(during); time.Now().Before(end); {
			for _, closed := range []bool{true, false} {
				g.set(closed)
				time.Sleep(time.Duration(50+dice.IntN(350)) * time.Millisecond)
				// Look for what the status must never say: the catalog can be had all the time.
				s := must.Value(w.source())(w)
				if s.Status.Reason == v1alpha1.CatalogSourceRegistryServerError {
					w.Errorf("trouble with the API server is told as that of a registry: %s", s.Status.Message)
				}
				for _, c := range s.Status.Conditions {
					if c.Status != "True" && (c.Reason == "" || c.Message == "") {
						w.Errorf("condition without a reason: %+v", c)
					}
				}
			}
		}
	}
	w.Make(w.catalogSource())
	flap(5 * time.Second)
	w.serves(1)
	var first *v1alpha1.CatalogSource
	must.Eventually(t, "the status to name the Service", func() (err error) { // which is written when the API server is there again
		if first, err = w.source(); err == nil && first.Status.RegistryServiceStatus == nil {
			err = fmt.Errorf("it has %+v", first.Status)
		}
		return err
	})
	w.publish(operator{pkg: "op", version: "1.0.0"}, operator{pkg: "more", version: "1.0.0"})
	for range 2 {
		g.set(true)
		time.Sleep(3 * time.Second)
		g.set(false)
		time.Sleep(400 * time.Millisecond)
	}
	w.serves(2)
	flap(3 * time.Second)
	w.serves(2)
	if got, err := w.versions(); err != nil || got["192.0.2.3"] == "" {
		t.Errorf("nothing leads to the catalog: %v, %v", got, err)
	}
	if last, err := w.source(); err != nil || last.Status.RegistryServiceStatus == nil || !last.Status.RegistryServiceStatus.CreatedAt.Equal(&first.Status.RegistryServiceStatus.CreatedAt) {
		t.Errorf("the Service was made again: %+v, %v", last.Status, err)
	}
	if g.broken < 10 {
		t.Errorf("only %d connections were broken", g.broken)
	}
}

// serves waits until so many packages are served.
func (w *world) serves(packages int) {
	w.Helper()
	must.Eventually(w, fmt.Sprintf("%d packages to be served", packages), func() error {
		s, err := w.source()
		if err != nil {
			return err
		}
		var said int
		if c := meta.FindStatusCondition(s.Status.Conditions, "Ready"); c != nil && c.Status == "True" && c.Reason == "Serving" {
			_, _ = fmt.Sscanf(c.Message, "serving %d packages", &said) // leaves 0 for any other text
		}
		if said != packages {
			return fmt.Errorf("status %+v", s.Status)
		}
		return nil
	})
}
