package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/crd"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator is what an API makes of a package: it installs it, and all else.
type operator interface {
	// take makes an edge happen, and returns when the operator runs. A *stuckError is what is wrong with the edge.
	take(ctx context.Context, e Edge) error
	// back undoes an upgrade, where the API has that. forget deletes the custom resources.
	back(ctx context.Context, e Edge, forget func(context.Context) error) error
	// brought are the objects of a bundle.
	brought(b *bundle.Bundle) (map[object]bool, error)
	// remove uninstalls it.
	remove(ctx context.Context) error
}

// trial takes one walk.
type trial struct {
	*run
	operator
	api       API
	namespace string
	watched   string // the namespace of custom resources
	resources []*resource
	// installed is the bundle that is there; empty where nothing is.
	installed string
	// all are the objects that were brought, to be gone at the end.
	all map[object]bool
}

// walk takes all walks: packages that have to do with each other one after the other.
func (r *run) walk(ctx context.Context) (err error) {
	if r.Cluster.Route != nil && len(r.edges) > 0 {
		if r.standin, err = newStandin(r.client); err != nil {
			return err
		}
		defer r.standin.close()
	}
	group, walking := errgroup.WithContext(ctx)
	group.SetLimit(r.Parallel)
	for _, packages := range apart(r.Catalog, r.index, r.contents, r.Packages) {
		group.Go(func() error {
			for _, pkg := range packages {
				for _, p := range r.plans[pkg] {
					if err := r.take(walking, p); err != nil {
						return fmt.Errorf("test package %s under %s: %w", pkg, p.api, err)
					}
				}
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), r.withdraw(ctx))
}

// take takes one walk in a namespace of its own.
func (r *run) take(ctx context.Context, p planned) (err error) {
	r.mu.Lock()
	r.walks++
	namespace := fmt.Sprintf("%s-%d", r.catalog, r.walks)
	r.mu.Unlock()
	targets := r.targets(p.walk, namespace)
	w := &trial{run: r, api: p.api, namespace: namespace, watched: namespace, all: map[object]bool{}}
	if w.operator = (&subscription{run: r, pkg: p.walk.Package, namespace: namespace, targets: targets}); p.api == V1 {
		w.operator = &clusterExtension{run: r, pkg: p.walk.Package, namespace: namespace, targets: targets}
	}
	namespaces := []string{namespace}
	if len(targets) > 0 && targets[0] != namespace {
		w.watched = targets[0]
		namespaces = append(namespaces, w.watched)
	}
	for _, name := range namespaces {
		o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := r.create(ctx, o); err != nil {
			return err
		}
		defer func() { // in the background: the next walk has another one
			if gone := r.client.Delete(context.WithoutCancel(ctx), o); client.IgnoreNotFound(gone) != nil {
				err = errors.Join(err, fmt.Errorf("delete namespace %s of the test: %w", name, gone))
			}
		}()
	}
	defer w.answer(p.walk)()
	return w.walkEdges(ctx, p.walk.Edges)
}

// answer lets the stand-in answer for the webhooks and APIs of all bundles of a walk.
func (w *trial) answer(walk Walk) (end func()) {
	var removes []func()
	for _, e := range walk.Edges {
		b := w.contents.bundle(e.Package, e.To)
		for _, d := range bundle.ServingDeployments(b.CSV) {
			if w.standin == nil {
				continue
			}
			service := bundle.ServingServiceName(d)
			w.standin.serve(w.namespace, service, bundle.ServingSecretName(d))
			if remove, err := w.Cluster.Route(w.namespace+"/"+service, w.standin.address()); err == nil { // an error: two versions have it
				removes = append(removes, remove)
			}
		}
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// targets are the namespaces that all bundles of a walk can watch: all namespaces where they can, else their own, else another one. None is all.
func (r *run) targets(walk Walk, namespace string) []string {
	for _, targets := range [][]string{{metav1.NamespaceAll}, {namespace}, {namespace + "-watched"}} {
		fits := !slices.ContainsFunc(walk.Edges, func(e Edge) bool {
			modes, err := v1alpha1.NewInstallModeSet(r.contents.bundle(e.Package, e.To).CSV.Spec.InstallModes)
			return err != nil || modes.Supports(namespace, targets) != nil
		})
		if fits && targets[0] != metav1.NamespaceAll {
			return targets
		}
		if fits {
			return nil
		}
	}
	return nil // what fails is told by the first edge
}

// walkEdges takes edge after edge. Where one fails, the next begins with the installation of what it comes from.
func (w *trial) walkEdges(ctx context.Context, edges []Edge) error {
	failed := map[string]string{} // the bundles that cannot be installed, and why
	var result Result
	for i, e := range edges {
		if i > 0 {
			w.seen(result)
		}
		result = Result{API: w.api, Edge: e}
		if e.From != "" && w.installed != e.From {
			if _, tried := failed[e.From]; !tried {
				err := w.again(ctx, Edge{Package: e.Package, To: e.From})
				if err != nil && !isStuck(err) {
					return err
				}
				if err != nil {
					failed[e.From] = err.Error()
				}
			}
			if why, fails := failed[e.From]; fails {
				result.Skipped = fmt.Sprintf("%s, which it upgrades, cannot be installed: %s", e.From, why)
				continue
			}
		}
		began := time.Now()
		var err error
		if result.Findings, err = w.edge(ctx, e, i == len(edges)-1); err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
		result.Took = time.Since(began)
		if e.From == "" && w.installed == "" && len(result.Findings) > 0 {
			failed[e.To] = result.Findings[len(result.Findings)-1].Message
		}
	}
	began := time.Now()
	left, err := w.end(ctx)
	if err != nil {
		return fmt.Errorf("uninstall %s after %s: %w", result.Edge.Package, result.Edge, err)
	}
	if result.Skipped == "" {
		result.Took += time.Since(began)
		result.Findings = append(result.Findings, left...)
	}
	w.seen(result)
	return nil
}

// again removes what is there, and installs a bundle that was installed before.
func (w *trial) again(ctx context.Context, e Edge) error {
	if _, err := w.end(ctx); err != nil {
		return err
	}
	if err := w.operator.take(ctx, e); err != nil {
		return err
	}
	w.installed = e.To
	_, err := w.exemplify(ctx, w.contents.bundle(e.Package, e.To), false)
	return err
}

// edge takes an edge, and finds what is wrong with it. What is known before the cluster is asked is not said twice.
func (w *trial) edge(ctx context.Context, e Edge, last bool) ([]Finding, error) {
	from, to := w.contents.bundle(e.Package, e.From), w.contents.bundle(e.Package, e.To)
	if e.From == "" {
		from = nil
	}
	findings, err := w.checker.Edge(ctx, w.api, e, from, to)
	if err != nil {
		return nil, err
	}
	if w.Images != nil {
		missing, _ := w.Images.Missing(ctx, to) // a registry that cannot be asked proves nothing
		findings = append(findings, missing...)
	}
	known := slices.ContainsFunc(findings, func(f Finding) bool { return blocks(f.Rule) })
	if slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == DependencyMissing }) {
		return findings, nil // nothing installs it
	}
	if err := w.operator.take(ctx, e); err != nil {
		if !isStuck(err) {
			return nil, err
		}
		w.installed = ""
		rule := UpgradeFailed
		if from == nil {
			rule = InstallFailed
		}
		if !known {
			findings = append(findings, Finding{Rule: rule, Object: "ClusterServiceVersion.operators.coreos.com " + e.To, Message: err.Error(), Remedy: help(rule).Remedy})
		}
		w.note(from, to)
		return findings, nil
	}
	w.installed = e.To
	seen, err := w.assert(ctx, e, from, to, last)
	return merge(findings, seen), err
}

// blocks tells whether an upgrade may fail for what a rule is about.
func blocks(r Rule) bool { return !help(r).Advice }

// merge adds findings to those that are known before. Of a custom resource that a narrower schema changes the schema is said already.
func merge(known, seen []Finding) []Finding {
	for _, f := range seen {
		if !slices.ContainsFunc(known, func(k Finding) bool { return k.Rule == f.Rule && k.Object == f.Object }) {
			known = append(known, f)
		}
	}
	return known
}

// assert finds what is wrong after an edge that was taken.
func (w *trial) assert(ctx context.Context, e Edge, from, to *bundle.Bundle, last bool) ([]Finding, error) {
	w.note(from, to)
	findings, err := w.intact(ctx, "after the upgrade")
	if err != nil {
		return findings, err
	}
	if from != nil {
		left, err := w.orphans(ctx, from, to)
		if findings = append(findings, left...); err != nil {
			return findings, err
		}
	}
	goesBack := from != nil && w.api == V1
	refused, err := w.exemplify(ctx, to, goesBack) // what the version before does not know would be in the way back
	if findings = append(findings, refused...); err != nil || !goesBack {
		return findings, err
	}
	back, err := w.andBack(ctx, e, last)
	findings = append(findings, back...)
	if err == nil && w.installed == e.To {
		_, err = w.exemplify(ctx, to, false)
	}
	return findings, err
}

// note remembers what bundles bring, to be gone at the end.
func (w *trial) note(bundles ...*bundle.Bundle) {
	for _, b := range bundles {
		if b == nil {
			continue
		}
		brought, err := w.brought(b)
		if err != nil {
			continue // such a bundle is not installed, which is a finding
		}
		for o := range brought {
			w.all[o] = true
		}
	}
}

// orphans are the objects of the bundle before that are left.
func (w *trial) orphans(ctx context.Context, from, to *bundle.Bundle) ([]Finding, error) {
	before, err := w.brought(from)
	if err != nil {
		return nil, err
	}
	after, err := w.brought(to)
	if err != nil {
		return nil, err
	}
	left, err := w.vanish(ctx, without(before, after))
	var findings []Finding
	for _, o := range left {
		findings = append(findings, Finding{Rule: Orphaned, Object: o.String(), Message: fmt.Sprintf("%s brought it, %s does not have it, and it is still there", from.Name, to.Name), Remedy: help(Orphaned).Remedy})
	}
	return findings, err
}

// andBack returns to the bundle before, and, unless the walk ends here, forward again.
func (w *trial) andBack(ctx context.Context, e Edge, last bool) ([]Finding, error) {
	err := w.operator.back(ctx, e, w.forget)
	finding := func(err error) []Finding {
		w.installed = ""
		return []Finding{{Rule: RollbackFailed, Object: "ClusterServiceVersion.operators.coreos.com " + e.From, Message: fmt.Sprintf("back from %s: %v", e.To, err), Remedy: help(RollbackFailed).Remedy}}
	}
	if isStuck(err) {
		return finding(err), nil
	}
	if err != nil {
		return nil, err
	}
	w.installed = e.From
	findings, err := w.intact(ctx, "after the way back")
	if err == nil && !last {
		_, err = w.exemplify(ctx, w.contents.bundle(e.Package, e.From), false) // those that were put out of the way
	}
	if err != nil || last {
		return findings, err
	}
	if err = w.operator.take(ctx, e); isStuck(err) {
		return append(findings, finding(fmt.Errorf("after the way back the upgrade fails: %w", err))...), nil
	}
	w.installed = e.To
	return findings, err
}

// end uninstalls what is there, and finds what is left of it.
func (w *trial) end(ctx context.Context) ([]Finding, error) {
	var findings []Finding
	finding := func(name, message string) {
		findings = append(findings, Finding{Rule: UninstallLeft, Object: name, Message: message, Remedy: help(UninstallLeft).Remedy})
	}
	if err := w.forget(ctx); err != nil {
		return nil, err
	}
	err := w.operator.remove(ctx)
	if isStuck(err) {
		finding("", err.Error())
	} else if err != nil {
		return nil, err
	}
	left, err := w.vanish(ctx, without(w.all, nil))
	for _, o := range left {
		finding(o.String(), "it is still there after the operator was uninstalled")
	}
	w.installed, w.all = "", map[object]bool{}
	return findings, err
}

// definition is a CustomResourceDefinition of the cluster; nil where there is none.
func (w *trial) definition(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	d, err := crd.Live(ctx, w.client, name)
	if err != nil {
		return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	return d, nil
}

// shortly repeats what fails for a moment, as requests for an API that is being registered do.
func (w *trial) shortly(ctx context.Context, try func() (again bool, err error)) error {
	for deadline := time.Now().Add(shortly); ; {
		again, err := try()
		if err == nil || !again || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}
