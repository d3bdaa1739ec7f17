package manager

import (
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"

	"github.com/go-logr/logr/funcr"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestALimitedManagerLeavesOthersAlone runs a manager for one namespace beside one for all: it reconciles no object of the namespace in which the other
// one installs an operator meanwhile, and no reconcile fails because its caches leave that namespace out.
func TestALimitedManagerLeavesOthersAlone(t *testing.T) {
	w, limited := newWorldAlone(t), devcluster.Namespace(t)
	var mu sync.Mutex
	var errors []string
	log := funcr.New(func(_, text string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(text, "Reconciler error") || strings.Contains(text, "unknown namespace") {
			errors = append(errors, text)
		}
	}, funcr.Options{})
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Options{Config: devcluster.Config(), StoreDir: t.TempDir(), Namespaces: []string{limited}, Log: log, Ready: func() { close(ready) }})
	}()
	t.Cleanup(func() { <-ended })
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	group := w.apiGroup()
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(w.owns(operator{pkg: "op", version: "1.0.0"}, group, "v1 served stored"))), w.subscribe("op"))
	w.succeeds("op.v1.0.0")
	w.eventually("the Role of the OperatorCondition", func() error {
		return w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "op.v1.0.0"}, &rbacv1.Role{})
	})
	time.Sleep(2 * time.Second) // requests that fail are repeated within that time
	mu.Lock()
	defer mu.Unlock()
	if len(errors) > 0 {
		t.Errorf("%d errors, the first is %s", len(errors), errors[0])
	}
}
