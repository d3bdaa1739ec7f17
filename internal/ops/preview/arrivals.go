package preview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Subscription reports what would be installed for a Subscription of the namespace of the question, and what becomes of the objects. What the user may not
// read, and bundles that cannot be had from here, are notes.
func (p Planner) Subscription(ctx context.Context, q *Question, name string) (*SubscriptionPlan, error) {
	decided, err := q.Decide(ctx, p.Library)
	if err != nil {
		return nil, err
	}
	return p.Decided(ctx, decided, name)
}

// Decided reports the same of what was decided already.
func (p Planner) Decided(ctx context.Context, decided *Preview, name string) (*SubscriptionPlan, error) {
	plan, err := decided.PlanOf(name)
	if err != nil {
		return nil, err
	}
	plan.Command = p.Command
	if len(plan.choices) == 0 {
		plan.NotExamined = plan.nothing()
		return plan, nil
	}
	all := &arrivals{Planner: p, namespace: decided.observed, fit: decided.fit, subscription: name}
	for _, c := range plan.choices {
		all.operators = append(all.operators, all.fetch(ctx, c))
	}
	return plan, all.fill(ctx, plan)
}

// fill reports what becomes of all objects, what keeps the operators from running, and what the account of the OperatorGroup lacks.
func (all *arrivals) fill(ctx context.Context, plan *SubscriptionPlan) error {
	if err := all.know(ctx); err != nil {
		return err
	}
	var totals Totals
	for _, a := range all.operators {
		if err := all.compare(ctx, a); err != nil {
			return err
		}
		plan.Misfits = all.unfit(a, plan.Misfits)
		a.change.Blocked = beyond(a.change.Blocked, plan.Misfits, a.Bundle.Name)
		plan.Operators = append(plan.Operators, a.change)
		totals.Created += len(a.change.Added)
		totals.Changed += len(a.change.Changed)
		totals.Unchanged += a.change.Unchanged
		if len(a.objects) > 0 {
			plan.Totals = &totals
		}
	}
	return all.account(ctx, plan)
}

// unfit are misfits with that of an operator, as its ClusterServiceVersion has it: that counts, and not what the catalog tells of it. One that is there
// already has been judged by the manager.
func (all *arrivals) unfit(a *arrival, told []Misfit) []Misfit {
	if a.csv == nil || all.namespace.Operator(a.csv.Name) != nil {
		return told
	}
	told = slices.DeleteFunc(told, func(m Misfit) bool { return m.Operator == a.Bundle.Name })
	m := all.fit.unfit(a.csv)
	if err := bundle.CheckInstallable(a.csv); err != nil {
		m = uninstallable(err)
	}
	if m == nil {
		return told
	}
	m.Operator = a.Bundle.Name
	return append(told, *m)
}

// beyond are the reasons for which an operator is blocked that its misfits have not told.
func beyond(blocked []string, misfits []Misfit, operator string) []string {
	return slices.DeleteFunc(blocked, func(reason string) bool {
		return slices.ContainsFunc(misfits, func(m Misfit) bool { return m.Operator == operator && m.Reason == reason })
	})
}

const crdKind = "CustomResourceDefinition"

// arrivals are the operators that an InstallPlan would bring, and what they are judged by: as the controller of InstallPlans judges them.
type arrivals struct {
	Planner
	namespace    *snapshot.Namespace
	fit          fitting
	subscription string
	operators    []*arrival
	definitions  *claims.Definitions
	reads        *sight
	partial      error // why not all operators could be read; nil where they were
}

// arrival is one of these operators.
type arrival struct {
	resolution.Choice
	change  *OperatorChange
	csv     *v1alpha1.ClusterServiceVersion
	objects []*unstructured.Unstructured // of the steps; none where the bundle cannot be had
	unknown string                       // why its ClusterServiceVersion is not known
}

// sight reads from a cluster, and remembers what the user may not read.
type sight struct {
	client.Reader
	refused error
}

// Get remembers a refusal.
func (s *sight) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return s.note(s.Reader.Get(ctx, key, into, options...))
}

// List remembers a refusal.
func (s *sight) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return s.note(s.Reader.List(ctx, into, options...))
}

func (s *sight) note(err error) error {
	if apierrors.IsForbidden(err) && s.refused == nil {
		s.refused = err
	}
	return err
}

// taken returns what was refused since it was asked last.
func (s *sight) taken() error {
	err := s.refused
	s.refused = nil
	return err
}

// fetch gets the bundle of an operator, and renders its steps.
func (all *arrivals) fetch(ctx context.Context, c resolution.Choice) *arrival {
	a := &arrival{Choice: c, change: &OperatorChange{Operator: c.Bundle.Name, Replaces: c.Replaces, values: all.Values}}
	b, err := all.bundle(ctx, c)
	if err == nil {
		if a.objects, err = bundle.Steps(b, bundle.StepTarget{Namespace: all.namespace.Name, Replaces: c.Replaces, Properties: c.Bundle.Properties}); err == nil {
			a.csv, err = operatorIn(a.objects[0])
		}
	}
	if err != nil {
		a.objects, a.unknown = nil, "its objects are not known from here: "+err.Error()
		a.change.Notes = append(a.change.Notes, a.unknown)
		return a
	}
	a.check()
	if len(c.Subscriptions) == 0 { // it is there for others, and gets a Subscription of its own
		step, err := resolution.PlanWriter{Namespace: all.namespace.Name}.Subscription("", c)
		sub := &unstructured.Unstructured{}
		if err == nil {
			err = json.Unmarshal([]byte(step.Resource.Manifest), &sub.Object)
		}
		if err != nil {
			a.change.Notes = append(a.change.Notes, err.Error())
			return a
		}
		a.objects = append(a.objects, sub)
	}
	return a
}

// check notes what no cluster takes.
func (a *arrival) check() {
	for _, u := range a.objects {
		bundle.DropAggregation(u)
	}
	if err := bundle.Writable(a.objects); err != nil {
		a.change.Blocked = append(a.change.Blocked, err.Error())
	}
}

func (all *arrivals) bundle(ctx context.Context, c resolution.Choice) (*bundle.Bundle, error) {
	from := all.namespace.Source(c.Catalog)
	if from == nil || !from.Healthy() {
		return nil, fmt.Errorf("read bundle %s: catalog %s is gone", c.Bundle.Name, c.Catalog)
	}
	origin := bundleio.Origin{Namespace: from.Object.Namespace, Secrets: from.Object.Spec.Secrets, Index: from.Served.Index, Image: from.Served.Image}
	request, err := origin.Bundle(ctx, all.Client, c.Bundle, bundleio.Policy{})
	var b *bundle.Bundle
	if err == nil {
		b, err = all.Fetch(ctx, request)
	}
	if err != nil {
		return nil, fmt.Errorf("read bundle %s: %w", c.Bundle.Name, err)
	}
	return b, nil
}

// operatorIn reads the ClusterServiceVersion of a step.
func operatorIn(object *unstructured.Unstructured) (*v1alpha1.ClusterServiceVersion, error) {
	csv := &v1alpha1.ClusterServiceVersion{}
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, csv)
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterServiceVersion %s: %w", object.GetName(), err)
	}
	return csv, nil
}

// know reads whom the objects of the cluster may belong to.
func (all *arrivals) know(ctx context.Context) error {
	all.reads = &sight{Reader: all.Client}
	installs, incoming := map[string]claims.Operator{}, map[string]*v1alpha1.ClusterServiceVersion{}
	var definitions []string
	for _, a := range all.operators {
		for _, u := range a.objects {
			if u.GetKind() == crdKind {
				definitions = append(definitions, u.GetName())
			}
		}
		if a.csv != nil {
			installs[a.csv.Name], incoming[a.csv.Name] = claims.Of(a.csv), a.csv
		}
	}
	here := client.InNamespace(all.namespace.Name)
	listed, err := claims.List(ctx, all.reads, here)
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	operators, err := listed.Beyond(ctx, all.reads, definitions)
	if all.partial = all.reads.taken(); apierrors.IsForbidden(err) { // nor may the definitions be read, which name operators
		operators, err = listed, nil
	}
	if err != nil {
		return err
	}
	claimant := claims.New(all.reads, all.namespace.Name, operators, installs)
	all.definitions = &claims.Definitions{Claimant: &claimant, Groups: all.Client, Everywhere: all.reads, Incoming: incoming}
	err = all.definitions.ReadGroups(ctx)
	if apierrors.IsForbidden(err) {
		err = all.definitions.ReadGroups(ctx, here)
	}
	if apierrors.IsForbidden(err) {
		all.partial, err = cmp.Or(all.partial, err), nil
	}
	return err
}

// compare reports what becomes of the objects of an operator.
func (all *arrivals) compare(ctx context.Context, a *arrival) error {
	var now, will []*unstructured.Unstructured
	var refused error
	unseen := map[string]int{} // of each kind, how many the user may not read
	for _, wanted := range a.objects {
		is, becomes, err := all.object(ctx, a, wanted)
		if apierrors.IsForbidden(err) {
			refused = err
			unseen[wanted.GetKind()]++
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s, which would be written: %w", rollout.RefOf(wanted), err)
		}
		if is != nil {
			now = append(now, is)
		}
		will = append(will, becomes)
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(unseen)) {
		counts = append(counts, safetext.Count(unseen[kind], kind))
		a.change.Unread += unseen[kind]
	}
	if refused != nil {
		a.change.Notes = append(a.change.Notes, messages.Unseen(refused, strings.Join(counts, ", "), "whether they are there, and what changes, is not known"))
	}
	diff := &ExtensionPlan{Values: all.Values}
	diff.compare(now, will)
	a.change.Added, a.change.Changed, a.change.Unchanged = diff.Added, diff.Changed, diff.Totals.Unchanged
	for i := range a.change.Changed {
		if c := &a.change.Changed[i]; a.csv != nil && c.Name == rollout.RefOf(a.objects[0]).String() {
			c.Name = fmt.Sprintf("%s %s -> %s", v1alpha1.ClusterServiceVersionKind, a.Replaces, a.csv.Name)
		}
	}
	return all.powers(a, now)
}

// powers reports the images and the permissions that an operator has in addition to the one that it replaces.
func (all *arrivals) powers(a *arrival, now []*unstructured.Unstructured) error {
	if a.csv == nil {
		return nil
	}
	after := slices.Concat(a.objects, workloads(a.csv))
	before := slices.DeleteFunc(now, func(u *unstructured.Unstructured) bool { return u.GetKind() == v1alpha1.ClusterServiceVersionKind })
	if old := all.namespace.Operator(a.Replaces); old != nil {
		made, err := bundle.Steps(&bundle.Bundle{Name: old.Name, CSV: old}, bundle.StepTarget{Namespace: all.namespace.Name})
		if err != nil {
			a.change.Notes = append(a.change.Notes, "what it may do in addition is not known: "+err.Error())
			return nil
		}
		before = slices.Concat(before, made, workloads(old))
	}
	was, is := images(before), images(after)
	a.change.ImagesAdded, a.change.ImagesRemoved = lacking(is, was), lacking(was, is)
	more := permissions.Compare(before, after)
	a.change.Permissions, a.change.Granted = more.String(), granted(more)
	return nil
}

// workloads are the Deployments of an operator, as far as images and accounts go.
func workloads(csv *v1alpha1.ClusterServiceVersion) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		u := &unstructured.Unstructured{}
		text, err := json.Marshal(map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]string{"name": d.Name, "namespace": csv.Namespace}, "spec": d.Spec})
		if err == nil {
			err = json.Unmarshal(text, &u.Object)
		}
		if err != nil {
			panic("a Deployment that was read as JSON always encodes: " + err.Error())
		}
		all = append(all, u)
	}
	return all
}

// object is what becomes of an object of a step, as it is now, which is nil where it is created, and as it will be. What is in its way is noted.
func (all *arrivals) object(ctx context.Context, a *arrival, wanted *unstructured.Unstructured) (is, becomes *unstructured.Unstructured, err error) {
	switch wanted.GetKind() {
	case v1alpha1.ClusterServiceVersionKind:
		return all.operator(ctx, a, wanted)
	case crdKind:
		return all.definition(ctx, a, wanted)
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	switch err := all.Client.Get(ctx, client.ObjectKeyFromObject(wanted), live); {
	case rollout.IsUnknownKind(err):
		a.change.Notes = append(a.change.Notes, fmt.Sprintf("%s: the cluster does not serve its kind", rollout.RefOf(wanted)))
		return nil, wanted, nil
	case apierrors.IsNotFound(err):
		return nil, wanted, nil
	case err != nil:
		return nil, nil, err
	case wanted.GetKind() == v1alpha1.SubscriptionKind:
		return wanted, wanted, nil // one that exists is left as it is
	}
	if wanted.GetKind() != "ServiceAccount" { // which operators share
		refused, _ := all.definitions.Judge(ctx, a.Bundle.Name, live)
		if unsure := all.reads.taken(); refused != "" && unsure != nil {
			a.change.Notes = append(a.change.Notes, messages.Unseen(unsure, "the owner of "+rollout.RefOf(wanted).String(), "whether the object may be written is not known"))
		} else if refused != "" {
			collision := &rollout.CollisionError{Ref: rollout.RefOf(wanted), Owner: v1alpha1.ClusterServiceVersionKind + " " + a.Bundle.Name, Claimant: refused}
			a.change.Blocked = append(a.change.Blocked, collision.Error())
		}
	}
	will := labelled(wanted, live)
	if wanted.GetKind() == "ServiceAccount" { // whose annotations stay
		if err := rollout.Share(will, live); err != nil {
			return nil, nil, err
		}
	}
	becomes, is = rollout.Compare(all.Client.Scheme(), will, live, append(claims.Predecessors(live), claims.FieldManager)...)
	return is, becomes, nil
}

// labelled is an object with the labels that the controller of InstallPlans gives it besides its own, as far as the live one has them.
func labelled(wanted, live *unstructured.Unstructured) *unstructured.Unstructured {
	wanted = wanted.DeepCopy()
	labels := wanted.GetLabels()
	for key, value := range live.GetLabels() {
		given := slices.Contains([]string{v1alpha1.ManagedLabel, v1alpha1.OwnerLabel, v1alpha1.OwnerNamespaceLabel, v1alpha1.OwnerKindLabel}, key) ||
			strings.HasPrefix(key, v1alpha1.ComponentLabelPrefix)
		if _, own := labels[key]; own || !given {
			continue
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = value
	}
	if labels != nil {
		wanted.SetLabels(labels)
	}
	return wanted
}

// operator compares the spec of a ClusterServiceVersion with that of the one that it replaces. One that exists is left as it is.
func (all *arrivals) operator(ctx context.Context, a *arrival, wanted *unstructured.Unstructured) (is, becomes *unstructured.Unstructured, err error) {
	live := &v1alpha1.ClusterServiceVersion{}
	err = all.Client.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, nil, err
	case err == nil && !live.IsCopied():
		return wanted, wanted, nil
	}
	old := all.namespace.Operator(a.Replaces)
	if old == nil {
		return nil, wanted, nil
	}
	spec := func(csv *v1alpha1.ClusterServiceVersion) (*unstructured.Unstructured, error) {
		u, err := bundle.ToUnstructured(csv)
		if err != nil {
			return nil, err
		}
		out := &unstructured.Unstructured{Object: map[string]any{"spec": u.Object["spec"]}}
		out.SetGroupVersionKind(wanted.GroupVersionKind())
		out.SetNamespace(wanted.GetNamespace())
		out.SetName(wanted.GetName())
		return out, nil
	}
	is, err = spec(old)
	if err == nil {
		becomes, err = spec(a.csv)
	}
	return is, becomes, err
}
