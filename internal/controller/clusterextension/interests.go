package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// decision is what has to be known of the last pass of an extension to tell which events concern it.
type decision struct {
	pkg, namespace string
	// fingerprints are those of the package in each catalog.
	fingerprints map[string]uint64
	// open is true when something may be had that is not: what other extensions install, or a catalog that offers what is needed, may matter.
	open bool
	// needs is true when what is installed or rolls out needs something of others, which may go away.
	needs bool
	// forbidden is true when other roles or bindings may matter.
	forbidden bool
}

// interests are what the last pass of each extension rested on, so that an event leads to the passes that it concerns.
type interests struct {
	decided  sync.Map // the last *decision, by the names of extensions
	fetching sync.Map // the names of extensions that wait for a bundle
}

// remember notes what the pass rested on.
func (r *reporter) remember(s *state, o *outcome) {
	d := &decision{pkg: packageOf(s.ext), namespace: s.ext.Spec.Namespace, fingerprints: map[string]uint64{},
		open: o.conflict != nil || o.lost != nil || o.resolved == nil || o.resolved.Held != nil || len(o.resolved.LeftOut) > 0 || s.loaded > 0}
	d.needs = slices.ContainsFunc(s.revisions, func(set olmv1.ClusterObjectSet) bool {
		if !revision.Active(&set) {
			return false
		}
		is, err := r.observer.installedOf(&set)
		return err != nil || len(is.Properties) == 0 || slices.ContainsFunc(is.Properties, resolution.IsNeed) // of broken and of too many properties no one knows
	})
	d.forbidden = errors.As(o.problem, &permissionProblem{})
	for i := range s.catalogs {
		d.fingerprints[s.catalogs[i].Name] = fingerprint(s.catalogs[i].Index, d.pkg)
	}
	r.interests.decided.Store(s.ext.Name, d)
}

// fingerprint identifies what a catalog has of a package; zero when that is nothing.
func fingerprint(x *catalog.Index, pkg string) uint64 {
	if x == nil {
		return 0
	}
	p, ok := x.PackageV1(pkg)
	problems := x.Problems().About(pkg)
	if !ok && len(problems) == 0 {
		return 0
	}
	sum := fnv.New64a()
	for _, problem := range problems { // they may be reported
		fmt.Fprintf(sum, "%s\n", problem)
	}
	if !ok {
		return sum.Sum64()
	}
	fmt.Fprintf(sum, "%q %q\n", p.Name, p.Deprecation)
	lifecycle, err := x.Lifecycle(pkg)
	fmt.Fprintf(sum, "%v %v\n", lifecycle, err)
	seen := map[string]bool{}
	for _, channel := range p.Channels {
		fmt.Fprintf(sum, "%q %q\n", channel.Name, channel.Deprecation)
		for _, e := range channel.Entries {
			fmt.Fprintf(sum, "%q %q %q %v\n", e.Name, e.Replaces, e.Skips, e.SkipRange)
			if b := e.Bundle; b != nil && !seen[b.Name] {
				seen[b.Name] = true
				fmt.Fprintf(sum, "%q %q %q %t %q\n", b.VersionText, b.Image, b.Deprecation, b.Deprecated, b.Properties)
				if b.Image == "" {
					fmt.Fprintf(sum, "%q\n", x.Digest()) // its manifests are in the catalog, and may differ
				}
			}
		}
	}
	return sum.Sum64()
}

// ownerOfRevision is the extension of a revision.
func ownerOfRevision(_ context.Context, o client.Object) []ctrl.Request {
	if name := revision.NameOf(o); name != "" {
		return []ctrl.Request{requestFor(name)}
	}
	return nil
}

// all are all extensions.
func (i *interests) all(context.Context, client.Object) []ctrl.Request {
	return i.those(func(*decision) bool { return true })
}

// open are the extensions that could have something else if others had, or that have needs, which others may meet no more.
func (i *interests) open(_ context.Context, o client.Object) []ctrl.Request {
	var out []ctrl.Request
	for _, r := range i.those(func(d *decision) bool { return d.open || d.needs }) {
		if r.Name != o.GetName() {
			out = append(out, r)
		}
	}
	return out
}

// forNamespace are the extensions that are for a namespace.
func (i *interests) forNamespace(_ context.Context, o client.Object) []ctrl.Request {
	return i.those(func(d *decision) bool { return d.namespace == o.GetName() })
}

// forbidden are the extensions whose service accounts lack permissions.
func (i *interests) forbidden(context.Context, client.Object) []ctrl.Request {
	return i.those(func(d *decision) bool { return d.forbidden })
}

// those are the extensions whose last decision is of a certain kind. One of which there was none yet has its pass ahead.
func (i *interests) those(concerned func(*decision) bool) []ctrl.Request {
	var out []ctrl.Request
	i.decided.Range(func(name, last any) bool {
		if concerned(last.(*decision)) {
			out = append(out, requestFor(name.(string)))
		}
		return true
	})
	return out
}

// deleted lets the beginning of a deletion pass.
var deleted = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}}

// comesOrGoes leaves out everything but that an object appears, disappears, or is about to.
var comesOrGoes = deleted

// describedOtherwise lets pass what decides whether and when a catalog is asked. Where its content comes from does not: that there is other
// content is told by the content itself, and concerns fewer.
var describedOtherwise = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, is := e.ObjectOld.(*olmv1.ClusterCatalog)
	after, too := e.ObjectNew.(*olmv1.ClusterCatalog)
	return is && too && (before.Spec.Priority != after.Spec.Priority || before.Spec.AvailabilityMode != after.Spec.AvailabilityMode ||
		!maps.Equal(before.Labels, after.Labels) || deleted.Update(e))
}}

// installedChanged lets pass that an extension has something else installed than before.
var installedChanged = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, is := e.ObjectOld.(*olmv1.ClusterExtension)
		after, too := e.ObjectNew.(*olmv1.ClusterExtension)
		return is && too && !equality.Semantic.DeepEqual(before.Status.Install, after.Status.Install)
	},
}

// Notifier brings news that are no Kubernetes events to the controller: new content of catalogs, and bundles that have arrived.
type Notifier struct {
	controller *Controller
	news       reconcile.Source
}

// BundleArrived requeues the extensions that wait for a bundle.
func (n *Notifier) BundleArrived() {
	if n.controller == nil {
		return
	}
	n.controller.interests.fetching.Range(func(name, _ any) bool {
		n.news.Add(requestFor(name.(string)))
		return true
	})
}

// PoliciesChanged reconciles all extensions: other admission or signature policies are in force than before.
func (n *Notifier) PoliciesChanged() {
	if n.controller == nil {
		return
	}
	n.news.Tell(func(ctx context.Context) []ctrl.Request { return n.controller.interests.all(ctx, nil) })
}

// catalogChanged requeues the extensions that new content of a catalog concerns: those whose package it has otherwise than before, and those
// that lack something.
func (n *Notifier) catalogChanged(ref catalog.Ref) {
	entry, _ := n.controller.Catalogs.Get(ref)
	n.news.Tell(func(context.Context) []ctrl.Request {
		return n.controller.interests.those(func(d *decision) bool {
			before, known := d.fingerprints[ref.Name]
			return d.open || !known || before != fingerprint(entry.Index, d.pkg)
		})
	})
}
