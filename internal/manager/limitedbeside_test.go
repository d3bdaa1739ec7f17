package manager

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/devcluster"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reconcilesOf is a log of a manager that counts the reconciles of objects in namespaces, and keeps what failed.
type reconcilesOf struct {
	mu     sync.Mutex
	lines  []string // of reconciles that begin
	errors []string
}

// logger has the verbosity with which the controllers say that they begin.
func (r *reconcilesOf) logger() logr.Logger {
	return funcr.New(func(_, text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case strings.Contains(text, "Reconciler error") || strings.Contains(text, "unknown namespace"):
			r.errors = append(r.errors, text)
		case strings.Contains(text, `"msg"="Reconciling"`):
			r.lines = append(r.lines, text)
		}
	}, funcr.Options{Verbosity: 5})
}

// in are the reconciles of objects in a namespace, and of the namespace itself.
func (r *reconcilesOf) in(namespace string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, line := range r.lines {
		if strings.Contains(line, `"namespace"="`+namespace+`"`) || strings.Contains(line, `"name"="`+namespace+`"`) {
			found = append(found, line)
		}
	}
	return found
}

// TestALimitedManagerLeavesOthersAlone runs a manager for one namespace beside one for all: it reconciles no object of the namespace in which the other
// one installs an operator meanwhile, though it does reconcile those of its own, and no reconcile fails because its caches leave that namespace out.
func TestALimitedManagerLeavesOthersAlone(t *testing.T) {
	w, limited := newWorldAlone(t), devcluster.Namespace(t)
	var log reconcilesOf
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Options{Config: devcluster.Config(), StoreDir: t.TempDir(), Namespaces: []string{limited}, Log: log.logger(), Ready: func() { close(ready) }})
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
	own := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: limited, Name: "own"}}
	w.create(own)
	w.eventually("a reconcile in its own namespace", func() error {
		for _, line := range log.in(limited) {
			if strings.Contains(line, `"name"="own"`) {
				return nil
			}
		}
		return errors.New("none is in the log")
	})
	time.Sleep(2 * time.Second) // requests that fail are repeated within that time
	if others := log.in(w.namespace); len(others) > 0 {
		t.Errorf("%d reconciles in the namespace of the other manager, the first is %s", len(others), others[0])
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if len(log.errors) > 0 {
		t.Errorf("%d errors, the first is %s", len(log.errors), log.errors[0])
	}
}
