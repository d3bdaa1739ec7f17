package ops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Approvals are what waits for a person, and what waits for its upgrade window.
type Approvals struct {
	Plans      []PendingPlan      `json:"plans"`
	Extensions []PendingExtension `json:"extensions"`
	// Held are the upgrades that begin by themselves, once their windows open or who holds them lets them.
	Held []HeldUpgrade `json:"held"`
	// Notes are what is left out, and why.
	Notes []string `json:"notes,omitempty"`
}

// PendingPlan is an InstallPlan that waits for approval.
type PendingPlan struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Created   time.Time `json:"created"`
	// Subscriptions are those that it is for: they depend on each other, and none without one when a person has written the plan.
	Subscriptions []string `json:"subscriptions"`
	// Operators are what it installs.
	Operators []PendingOperator `json:"operators"`
	// Advice is what the manager says of approving it; see WaitingPlan.Advice.
	Advice string `json:"advice,omitempty"`
	// Mark names what the plan would do: an approval of what has it approves nothing else.
	Mark string `json:"mark"`

	Plan *v1alpha1.InstallPlan `json:"-"`
}

// PendingOperator is what a plan would install.
type PendingOperator struct {
	Name     string `json:"name"`
	Replaces string `json:"replaces,omitempty"`
	// Package and Version are empty where the plan does not tell them.
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"`
	// Subscription asks for it; empty for what another operator of the plan needs.
	Subscription string `json:"subscription,omitempty"`
}

// PendingExtension is a ClusterExtension whose upgrade asks for permissions.
type PendingExtension struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Package   string `json:"package"`
	// Version is the range that it asks for, and Installed the bundle that it has.
	Version   string `json:"version,omitempty"`
	Installed string `json:"installed,omitempty"`
	// Digest names the permissions, and Message lists them.
	Digest  string `json:"digest"`
	Message string `json:"message"`
	// Mark changes with each write of the object.
	Mark string `json:"mark"`
}

// HeldUpgrade is an upgrade that waits for its window.
type HeldUpgrade struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Message   string `json:"message"`
	// ByHand is true where Hold holds it, for a Reason that a person may have given.
	ByHand bool   `json:"byHand,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// ListApprovals lists what waits in a namespace, or in all when it is empty, of both APIs. ClusterExtensions belong to the namespace that they install into.
// Where nothing waits because there is no such namespace, that is the error.
func ListApprovals(ctx context.Context, reader client.Reader, namespace string) (Approvals, error) {
	a := Approvals{Plans: []PendingPlan{}, Extensions: []PendingExtension{}, Held: []HeldUpgrade{}}
	var subs v1alpha1.SubscriptionList
	var plans v1alpha1.InstallPlanList
	for _, list := range []struct {
		into client.ObjectList
		what string
	}{{&plans, "InstallPlans"}, {&subs, "Subscriptions"}} {
		if err := a.read(reader.List(ctx, list.into, client.InNamespace(namespace)), list.what); err != nil {
			return a, err
		}
	}
	for i := range plans.Items {
		if p := &plans.Items[i]; waits(p) {
			a.Plans = append(a.Plans, pending(p, subs.Items))
		}
	}
	for i := range subs.Items {
		if h := heldSubscription(&subs.Items[i]); h != nil {
			a.Held = append(a.Held, *h)
		}
	}
	var extensions olmv1.ClusterExtensionList
	if err := a.read(reader.List(ctx, &extensions), "ClusterExtensions"); err != nil {
		return a, err
	}
	for i := range extensions.Items {
		if e := &extensions.Items[i]; namespace == "" || e.Spec.Namespace == namespace {
			a.extension(e)
		}
	}
	slices.SortFunc(a.Plans, func(x, y PendingPlan) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	slices.SortFunc(a.Extensions, func(x, y PendingExtension) int { return cmp.Compare(x.Name, y.Name) })
	slices.SortFunc(a.Held, func(x, y HeldUpgrade) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	if namespace != "" && a.Waiting()+len(a.Held) == 0 {
		return a, Absent(ctx, reader, namespace)
	}
	return a, nil
}

// Waiting is how many wait for a person.
func (a Approvals) Waiting() int { return len(a.Plans) + len(a.Extensions) }

// read makes a note of what the user may not list. What the cluster does not serve does not wait.
func (a *Approvals) read(err error, what string) error {
	switch {
	case err == nil, rollout.IsUnknownKind(err):
		return nil
	case apierrors.IsForbidden(err):
		a.Notes = append(a.Notes, messages.Unseen(err, what, "which of them wait is not shown"))
		return nil
	}
	return fmt.Errorf("list the %s that wait: %w", what, err)
}

// waits reports whether a plan waits for approval.
func waits(p *v1alpha1.InstallPlan) bool {
	return p.DeletionTimestamp.IsZero() && !p.Spec.Approved && p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval
}

// pending is a plan that waits, for some of the Subscriptions of its namespace.
func pending(p *v1alpha1.InstallPlan, subs []v1alpha1.Subscription) PendingPlan {
	out := PendingPlan{Namespace: p.Namespace, Name: p.Name, Created: p.CreationTimestamp.UTC(), Subscriptions: []string{}, Operators: []PendingOperator{}, Plan: p}
	w := WaitingPlan{Plan: p}
	out.Advice, out.Mark = w.Advice(), w.Mark()
	byPackage := map[string]string{}
	for i := range subs {
		sub := &subs[i]
		if sub.Namespace == p.Namespace && isFor(p, sub) {
			out.Subscriptions = append(out.Subscriptions, sub.Name)
			if sub.Spec != nil {
				byPackage[sub.Spec.Package] = sub.Name
			}
		}
	}
	slices.Sort(out.Subscriptions)
	for _, name := range p.Spec.ClusterServiceVersionNames {
		o := describeOperator(p, name)
		o.Subscription = byPackage[o.Package]
		out.Operators = append(out.Operators, o)
	}
	return out
}

// isFor reports whether a plan that waits is for a Subscription, which owns it or refers to it.
func isFor(p *v1alpha1.InstallPlan, sub *v1alpha1.Subscription) bool {
	none := v1alpha1.Subscription{}
	none.ObjectMeta, none.Status.InstallPlanRef = sub.ObjectMeta, sub.Status.InstallPlanRef // and not for what it has installed
	return plansFor(p, &none)
}

// describeOperator is what a plan tells of one of its operators, in the decision that it was made by, or in the properties of the bundle.
func describeOperator(p *v1alpha1.InstallPlan, name string) PendingOperator {
	o := PendingOperator{Name: name}
	for _, l := range p.Status.BundleLookups {
		if l.Identifier != name {
			continue
		}
		o.Replaces = l.Replaces
		var said struct{ Properties []catalog.Property }
		if json.Unmarshal([]byte(l.Properties), &said) != nil {
			continue
		}
		for _, property := range said.Properties {
			var is struct{ PackageName, Version string }
			if property.Type == catalog.PropertyPackage && json.Unmarshal(property.Value, &is) == nil {
				o.Package, o.Version = is.PackageName, is.Version
			}
		}
	}
	var decision resolution.NamespaceRecord
	if json.Unmarshal([]byte(p.Annotations[resolution.DecisionAnnotation]), &decision) == nil {
		for _, choice := range decision.Outcome.Install {
			if choice.Name == name {
				o.Package, o.Version, o.Replaces = cmp.Or(o.Package, choice.Package), cmp.Or(o.Version, choice.Version), cmp.Or(o.Replaces, choice.Replaces)
			}
		}
	}
	return o
}

// Mark names what the plan would do: its object, what it installs, and each of its steps.
func (w *WaitingPlan) Mark() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", w.Plan.UID, w.Plan.Spec.ClusterServiceVersionNames)
	for _, s := range w.Plan.Status.Plan {
		if s != nil {
			fmt.Fprintf(sum, "%q %q %q %q %q\n", s.Resolving, s.Resource.Group, s.Resource.Kind, s.Resource.Name, s.Resource.Manifest)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// heldSubscription is the upgrade of a Subscription that waits for its window; nil where none does.
func heldSubscription(sub *v1alpha1.Subscription) *HeldUpgrade {
	ready := sub.Status.GetCondition("Ready")
	if ready.Reason != upgradeHeld || sub.Status.ObservedGeneration < sub.Generation {
		return nil
	}
	return heldBy(v1alpha1.SubscriptionKind, sub.Namespace, sub, ready.Message)
}

func heldBy(kind, namespace string, o client.Object, message string) *HeldUpgrade {
	h := &HeldUpgrade{Kind: kind, Namespace: namespace, Name: o.GetName(), Message: message}
	_, h.ByHand = o.GetAnnotations()[HeldBeforeKey]
	h.Reason = o.GetAnnotations()[HeldReasonKey]
	return h
}

// extension adds what of a ClusterExtension waits.
func (a *Approvals) extension(e *olmv1.ClusterExtension) {
	is := meta.FindStatusCondition(e.Status.Conditions, olmv1.TypeProgressing)
	if is == nil || is.ObservedGeneration < e.Generation || !e.DeletionTimestamp.IsZero() {
		return
	}
	if digest, asks := revision.AskedPermissions(is.Message); asks {
		p := PendingExtension{Name: e.Name, Namespace: e.Spec.Namespace, Digest: digest, Message: is.Message, Mark: string(e.UID) + "/" + e.ResourceVersion}
		if c := e.Spec.Source.Catalog; c != nil {
			p.Package, p.Version = c.PackageName, c.Version
		}
		if i := e.Status.Install; i != nil {
			p.Installed = i.Bundle.Name
		}
		a.Extensions = append(a.Extensions, p)
	}
	if s := Stand(e); s.Held != "" {
		a.Held = append(a.Held, *heldBy(olmv1.ClusterExtensionKind, e.Spec.Namespace, e, s.Held))
	}
}
