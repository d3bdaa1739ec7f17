package preview

import (
	"context"
	"errors"
	"fmt"
	"net"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Open reports what becomes of the objects of the InstallPlan of a Subscription that waits for approval, or is carried out. Its steps are what counts, and
// not what would be decided now. A dial function reaches registries that are Services of the cluster; nil is none.
func (p Planner) Open(ctx context.Context, open *v1alpha1.InstallPlan, subscription string, dial func(ctx context.Context, address string) (net.Conn, error)) (*SubscriptionPlan, error) {
	p.Library.reach(dial)
	view, whole := ViewPlan(open), ViewPlan(open)
	plan := &SubscriptionPlan{Subscription: open.Namespace + "/" + subscription, Waiting: &view, Command: p.Command}
	n := &snapshot.Namespace{Name: open.Namespace}
	var operators v1alpha1.ClusterServiceVersionList
	var groups operatorsv1.OperatorGroupList
	known := true // which OperatorGroups there are
	for _, list := range []client.ObjectList{&operators, &groups} {
		err := p.Client.List(ctx, list, client.InNamespace(open.Namespace))
		switch {
		case err == nil:
		case !apierrors.IsForbidden(err):
			return nil, fmt.Errorf("read namespace %s of the cluster: %w", open.Namespace, err)
		case list == client.ObjectList(&groups):
			known = false
			plan.Notes = append(plan.Notes, messages.Unseen(err, "OperatorGroups of namespace "+open.Namespace, "whether the operators fit, and whose rights count, is not known"))
		default:
			plan.Notes = append(plan.Notes, messages.Unseen(err, "ClusterServiceVersions of namespace "+open.Namespace, "what the operators that are there have is not known"))
		}
	}
	others, err := rivals(ctx, p.Client)
	if err != nil {
		return nil, err
	}
	for _, csv := range operators.Items {
		if !csv.IsCopied() {
			n.Operators = append(n.Operators, csv)
		}
	}
	n.Groups = groups.Items
	all := &arrivals{Planner: p, namespace: n, fit: fitting{namespace: n, complete: known, rivals: others}, subscription: subscription}
	if len(whole.Operators) == 0 {
		plan.NotExamined = fmt.Sprintf("InstallPlan %s has no steps yet", open.Name)
		return plan, nil
	}
	if err := whole.AddManifests(ctx, open, all.recorded); err != nil {
		plan.Notes = append(plan.Notes, "what its objects change is not known from here: "+err.Error())
		plan.NotExamined = plan.Notes[0]
		return plan, nil
	}
	for _, o := range whole.Operators {
		a, err := all.recordedSteps(o)
		if err != nil {
			return nil, err
		}
		if a != nil {
			all.operators = append(all.operators, a)
		}
	}
	return plan, all.fill(ctx, plan)
}

// recordedSteps is the operator that some steps of an InstallPlan are for; nil for those that are for none.
func (all *arrivals) recordedSteps(o Operator) (*arrival, error) {
	if o.Name == "" {
		return nil, nil
	}
	a := &arrival{Choice: resolution.Choice{Bundle: &catalog.BundleInfo{Name: o.Name}, Replaces: o.Replaces},
		change: &OperatorChange{Operator: o.Name, Replaces: o.Replaces, values: all.Values}}
	for _, s := range o.Steps {
		content, is := s.Object.(map[string]any)
		if !is {
			continue // a pull secret is copied when the plan is carried out
		}
		u := &unstructured.Unstructured{Object: content}
		a.objects = append(a.objects, u)
		if s.Kind != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		csv, err := operatorIn(u)
		if err != nil {
			return nil, err
		}
		csv.Namespace = all.namespace.Name
		a.csv = csv
	}
	switch {
	case len(o.Steps) == 0:
		a.unknown = "its bundle is still being fetched, so the InstallPlan has no steps for it yet"
	case a.csv == nil:
		a.unknown = "the steps have no ClusterServiceVersion of it"
	}
	if a.unknown != "" {
		a.change.Notes = append(a.change.Notes, a.unknown)
		return a, nil
	}
	a.check()
	return a, nil
}

// recorded gets the bundle that a plan names, with the pull secrets of its CatalogSource as far as the user may read these.
func (all *arrivals) recorded(ctx context.Context, lookup v1alpha1.BundleLookup) (*bundle.Bundle, error) {
	if lookup.Path == "" {
		return nil, errors.New("the InstallPlan names no image of bundle " + lookup.Identifier)
	}
	if err := bundleio.CheckImage(lookup.Path); err != nil { // what a plan names is never a directory
		return nil, err
	}
	request := bundleio.Request{Name: lookup.Identifier, Image: lookup.Path}
	if ref := lookup.CatalogSourceRef; ref != nil {
		source := &v1alpha1.CatalogSource{}
		err := all.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, source)
		if err == nil {
			request.Auth, err = bundleio.PullSecrets(ctx, all.Client, ref.Namespace, source.Spec.Secrets)
		}
		if err != nil {
			request.Auth = image.Auth{} // the credentials of the user are tried
		}
	}
	b, err := all.Fetch(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("read bundle %s: %w", lookup.Identifier, err)
	}
	return b, nil
}
