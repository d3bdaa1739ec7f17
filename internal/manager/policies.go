package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// policiesSettle is how long changes of policies may follow one another before they are judged: kubectl apply writes them one by one.
	policiesSettle = time.Second
	// policiesRecheck is how soon an API server without policies is asked again, which may have been upgraded.
	policiesRecheck = 10 * time.Minute
)

// InstallPolicies creates the admission policies that the v1 API relies on, where they do not exist. It reports on log what it created, and
// that a cluster cannot have them.
func InstallPolicies(ctx context.Context, log io.Writer, o Options) error {
	c, err := client.New(unlimited(o.Config), client.Options{})
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	created, err := permissions.CreatePolicies(ctx, c, cmp.Or(o.GlobalNamespace, DefaultGlobalNamespace))
	if errors.Is(err, permissions.ErrPoliciesNotServed) {
		fmt.Fprintf(log, "warning: the admission policies of ClusterExtensions cannot be created: %v\n", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; to do without the v1 API, give --install-policies=false", err)
	}
	if len(created) > 0 {
		fmt.Fprintf(log, "created %s\n", strings.Join(created, ", "))
	}
	return nil
}

// policyChecker judges the policies of the cluster that a reader reads.
func policyChecker(reader client.Reader) *permissions.PolicyChecker {
	c := &permissions.PolicyChecker{Reader: reader}
	if namespace, account := os.Getenv(podNamespaceVariable), os.Getenv(accountVariable); namespace != "" && account != "" {
		c.Manager = "system:serviceaccount:" + namespace + ":" + account
	}
	return c
}

// policyWatch logs and counts the policies that are not in force, and has extensions reconciled when that changes.
type policyWatch struct {
	mgr     manager.Manager
	checker *permissions.PolicyChecker
	missing *prometheus.GaugeVec
	notify  func()
	log     logr.Logger
	changed chan struct{}
	known   []permissions.PolicyFinding
}

// Start judges the policies at start and after each change.
func (w *policyWatch) Start(ctx context.Context) error {
	following := false
	for ctx.Err() == nil {
		if !following {
			following = w.follow(ctx)
		}
		w.judge(ctx)
		var later <-chan time.Time
		if !following {
			later = time.After(policiesRecheck)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-later:
			continue
		case <-w.changed:
		}
		select {
		case <-ctx.Done():
		case <-time.After(policiesSettle):
		}
		select { // what has come since is judged now
		case <-w.changed:
		default:
		}
	}
	return nil
}

// follow watches policies and bindings, and reports whether the API server has them.
func (w *policyWatch) follow(ctx context.Context) bool {
	for _, kind := range []client.Object{&admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}} {
		informer, err := w.mgr.GetCache().GetInformer(ctx, kind)
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { w.wake() }, UpdateFunc: func(any, any) { w.wake() }, DeleteFunc: func(any) { w.wake() }})
		}
		if err != nil {
			if !rollout.IsUnknownKind(err) && ctx.Err() == nil {
				w.log.Error(err, "admission policies cannot be watched; it is retried", "in", policiesRecheck)
			}
			return false
		}
	}
	return true
}

func (w *policyWatch) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// judge tells what is not in force, when that is something else than before.
func (w *policyWatch) judge(ctx context.Context) {
	found, err := w.checker.Check(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.log.Error(err, "admission policies cannot be judged")
		}
		return
	}
	w.missing.Reset()
	for _, f := range found {
		w.missing.WithLabelValues(f.Policy).Set(1)
		if !slices.Contains(w.known, f) {
			w.log.Info("an admission policy is not in force; what relies on it is refused unless --accept-missing-policies is given", "policy", f.Policy, "problem", f.Problem)
		}
	}
	for _, f := range w.known {
		if !slices.ContainsFunc(found, func(n permissions.PolicyFinding) bool { return n.Policy == f.Policy }) {
			w.log.Info("an admission policy is in force again", "policy", f.Policy)
		}
	}
	if !slices.Equal(found, w.known) {
		w.known = found
		w.notify()
	}
}
