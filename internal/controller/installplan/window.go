package installplan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/schedule"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// UpgradeGate is asked about upgrades that annotations allow, such as a server of the fleet.
type UpgradeGate interface {
	// Ask returns why upgrades have to wait, and until when; nil where they may begin.
	Ask(ctx context.Context, upgrades ...schedule.Upgrade) *schedule.Held
}

// upgrades are those of a plan, which may have to wait for an upgrade window.
type upgrades struct {
	*Controller
	x *execution
}

// held returns what holds the upgrades of a plan that has not begun; nil where it may begin. A user who approves a plan, or writes one, decides when it
// begins; only what the manager approves itself waits. What has begun is finished.
func (u upgrades) held(ctx context.Context) (*schedule.Held, error) {
	plan := u.x.plan
	if plan.Status.StartTime != nil || plan.IsHandWritten() || plan.Spec.Approval != v1alpha1.ApprovalAutomatic {
		return nil, nil
	}
	replaced, err := u.replaced(ctx)
	if err != nil || len(replaced) == 0 {
		return nil, err
	}
	rules, err := reconcile.ReadUpgradeRules(ctx, u.client, plan.Namespace)
	if err != nil {
		return nil, err
	}
	var subscriptions v1alpha1.SubscriptionList
	if err := u.client.List(ctx, &subscriptions, client.InNamespace(plan.Namespace)); err != nil {
		return nil, fmt.Errorf("list the Subscriptions of namespace %s, which may say when upgrades begin: %w", plan.Namespace, err)
	}
	var all []schedule.Upgrade
	for _, name := range slices.Sorted(maps.Keys(replaced)) {
		for _, asker := range askers(plan, subscriptions.Items, replaced[name]) {
			object := asker.kind + " " + asker.GetName()
			one := schedule.Upgrade{Object: object, Namespace: plan.Namespace, Annotations: asker.GetAnnotations(), Bundle: name, Rules: rules.For(object, asker.GetAnnotations())}
			if csv := u.x.incoming[name]; csv != nil {
				one.Version = csv.Spec.Version.String()
			}
			all = append(all, one)
		}
	}
	if held := schedule.Judge(u.Clock.Now(), all...); held != nil || u.UpgradeGate == nil {
		return held, nil
	}
	return u.UpgradeGate.Ask(ctx, all...), nil
}

// replaced are the operators of the namespace that the plan would replace, by the names of what replaces them. One whose successor exists is not among
// them: that upgrade has begun.
func (u upgrades) replaced(ctx context.Context) (map[string]string, error) {
	plan, found := u.x.plan, map[string]string{}
	for _, l := range plan.Status.BundleLookups { // known without reading the content, which may have to be fetched again
		found[l.Identifier] = l.Replaces
	}
	for name, csv := range u.x.incoming {
		found[name] = cmp.Or(found[name], csv.Spec.Replaces)
	}
	for name, before := range found {
		is, err := u.exists(ctx, before)
		if err != nil {
			return nil, err
		}
		begun, err := u.exists(ctx, name)
		if err != nil {
			return nil, err
		}
		if !is || begun {
			delete(found, name)
		}
	}
	return found, nil
}

// exists reports whether the namespace of the plan has an operator, which is no copy.
func (u upgrades) exists(ctx context.Context, name string) (bool, error) {
	if name == "" {
		return false, nil
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	err := u.client.Get(ctx, client.ObjectKey{Namespace: u.x.plan.Namespace, Name: name}, csv)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read ClusterServiceVersion %s/%s, to see whether InstallPlan %s upgrades it: %w", u.x.plan.Namespace, name, u.x.plan.Name, err)
	}
	return !csv.IsCopied(), nil
}

// asker is an object that asks for an upgrade.
type asker struct {
	metav1.Object
	kind string
}

// askers are the Subscriptions that have an operator installed. Where none reports that, all count that the plan is made for, and without those
// the plan itself.
func askers(plan *v1alpha1.InstallPlan, subscriptions []v1alpha1.Subscription, installed string) (all []asker) {
	for _, is := range []func(*v1alpha1.Subscription) bool{
		func(s *v1alpha1.Subscription) bool { return s.Status.InstalledCSV == installed },
		func(s *v1alpha1.Subscription) bool {
			return slices.ContainsFunc(plan.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == s.UID })
		},
	} {
		for i := range subscriptions {
			if is(&subscriptions[i]) {
				all = append(all, asker{&subscriptions[i], v1alpha1.SubscriptionKind})
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return []asker{{plan, v1alpha1.InstallPlanKind}}
}

// await is the status of a plan whose upgrades wait: it is held like one that waits for an OperatorGroup, and a newer decision takes its place. All
// that can be checked before is checked: the bundles are verified again, and what is in the way of CustomResourceDefinitions is reported.
func (u upgrades) await(ctx context.Context, seen observation, next planStatus, wait *schedule.Held) (planStatus, outcome) {
	status, now := &u.x.plan.Status, u.Clock.Now()
	if done := u.x.execute(ctx, u.Controller, seen, true); done.unverified != accepted {
		return unverifiedStatus(status, conclude(next, done, now, u.RetryTimeout), done, now), done
	}
	message := wait.Message
	if refused, _, err := u.newExecution(u.x.plan).judgeCRDs(ctx, u.Controller); err == nil && len(refused) > 0 {
		message += "; known to be in the way even then: " + strings.Join(refused, "; ")
	}
	return held(status, next, message, now), outcome{}
}
