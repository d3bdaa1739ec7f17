package preview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Difference is what two kept versions of an operator differ in. Added is what From does not have.
type Difference struct {
	Operator string          `json:"operator"`
	From     string          `json:"from"`
	To       string          `json:"to"`
	Added    []string        `json:"added,omitempty"`
	Changed  []ChangedObject `json:"changed,omitempty"`
	Removed  []string        `json:"removed,omitempty"`
	Totals   *Totals         `json:"totals,omitempty"`
	// Permissions are those that To has in addition, and Dropped those that only From has, as text.
	Permissions string `json:"permissions,omitempty"`
	Dropped     string `json:"dropped,omitempty"`
	// ImagesAdded and ImagesRemoved are those of containers.
	ImagesAdded   []string `json:"imagesAdded,omitempty"`
	ImagesRemoved []string `json:"imagesRemoved,omitempty"`
	// NotKept is why they cannot be compared: the content of one is not there any more, or cannot be had.
	NotKept []string `json:"notKept,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Same reports whether nothing differs.
func (d *Difference) Same() bool {
	return len(d.Added)+len(d.Changed)+len(d.Removed)+len(d.NotKept) == 0 && d.Permissions == "" && d.Dropped == ""
}

// compare fills in what differs between two sets of objects, and between what they may do.
func (d *Difference) compare(before, after, beforePowers, afterPowers []*unstructured.Unstructured) {
	plan := ExtensionPlan{Values: true}
	plan.compare(before, after)
	d.Added, d.Changed, d.Removed, d.Totals = plan.Added, plan.Changed, plan.Removed, plan.Totals
	was, is := images(beforePowers), images(afterPowers)
	d.ImagesAdded, d.ImagesRemoved = lacking(is, was), lacking(was, is)
	d.Permissions = permissions.Compare(beforePowers, afterPowers).String()
	d.Dropped = strings.ReplaceAll(permissions.Compare(afterPowers, beforePowers).String(), "  + ", "  - ")
}

// Revisions compares two of the revisions of a ClusterExtension that are kept, by their numbers.
func (p Planner) Revisions(ctx context.Context, extension string, kept []olmv1.ClusterObjectSet, from, to int64) (*Difference, error) {
	d := &Difference{Operator: olmv1.ClusterExtensionKind + " " + extension}
	numbers := []int64{from, to}
	var sets [2]*olmv1.ClusterObjectSet
	for i, number := range numbers {
		if sets[i] = revision.History(kept).Numbered(number); sets[i] == nil {
			return nil, fmt.Errorf("compare revision %d of ClusterExtension %s: it is not kept; fairlead history %[2]s lists those that are", number, extension)
		}
	}
	var contents [2][]*unstructured.Unstructured
	for i, number := range numbers {
		name := fmt.Sprintf("revision %s (%s)", strconv.FormatInt(number, 10), sets[i].Annotations[olmv1.BundleVersionKey])
		if i == 0 {
			d.From = name
		} else {
			d.To = name
		}
		var err error
		contents[i], err = revision.Content(ctx, p.Client, sets[i])
		if errors.As(err, new(*revision.LostContentError)) {
			d.NotKept = append(d.NotKept, fmt.Sprintf("the content of revision %d is lost: %v", number, err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read revision %d of ClusterExtension %s: %w", number, extension, err)
		}
	}
	if len(d.NotKept) == 0 {
		d.compare(contents[0], contents[1], contents[0], contents[1])
	}
	return d, nil
}

// InstallPlans compares what two InstallPlans of a namespace bring, by their names. The v0 API keeps no objects of earlier versions: they are
// those of the steps, of which some are read again from the images of the bundles. What cannot be had is told.
func (p Planner) InstallPlans(ctx context.Context, subscription client.ObjectKey, from, to string) (*Difference, error) {
	d := &Difference{Operator: v1alpha1.SubscriptionKind + " " + subscription.String()}
	var plans [2]*v1alpha1.InstallPlan
	for i, name := range []string{from, to} {
		plans[i] = &v1alpha1.InstallPlan{}
		if err := p.Client.Get(ctx, client.ObjectKey{Namespace: subscription.Namespace, Name: name}, plans[i]); err != nil {
			return nil, fmt.Errorf("read InstallPlan %s/%s: %w", subscription.Namespace, name, err)
		}
	}
	both := inBoth(plans)
	var contents [2][]*unstructured.Unstructured
	for i, plan := range plans {
		name := plan.Name
		title := fmt.Sprintf("InstallPlan %s (%s)", name, strings.Join(plan.Spec.ClusterServiceVersionNames, ", "))
		if i == 0 {
			d.From = title
		} else {
			d.To = title
		}
		for _, csv := range plan.Spec.ClusterServiceVersionNames {
			if len(both) > 0 && !both[operatorName(csv)] {
				d.Notes = append(d.Notes, fmt.Sprintf("InstallPlan %s is for %s as well, and the other one is not: what that brings is left out", name, csv))
			}
		}
		var err error
		if contents[i], err = p.steps(ctx, plan, both); err != nil {
			d.NotKept = append(d.NotKept, fmt.Sprintf("the objects of InstallPlan %s are not kept in the cluster, and cannot be read from its bundles: %v", name, err))
		}
	}
	if len(d.NotKept) > 0 {
		return d, nil
	}
	d.successions(contents)
	return d, nil
}

// successions compares the objects of two InstallPlans: an operator that comes in the place of another one changes.
func (d *Difference) successions(contents [2][]*unstructured.Unstructured) {
	steps := map[string]string{} // by the object that the operator before has
	for _, u := range contents[1] {
		name := u.GetName()
		i := slices.IndexFunc(contents[0], func(o *unstructured.Unstructured) bool {
			return o.GetKind() == v1alpha1.ClusterServiceVersionKind && operatorName(o.GetName()) == operatorName(name)
		})
		if u.GetKind() != v1alpha1.ClusterServiceVersionKind || i < 0 || contents[0][i].GetName() == name {
			continue
		}
		steps[rollout.RefOf(contents[0][i]).String()] = contents[0][i].GetName() + " -> " + name
		u.SetName(contents[0][i].GetName())
	}
	d.compare(contents[0], contents[1], powersOf(contents[0]), powersOf(contents[1]))
	for i := range d.Changed {
		if step := steps[d.Changed[i].Name]; step != "" {
			d.Changed[i].Name = v1alpha1.ClusterServiceVersionKind + " " + step
		}
	}
}

// inBoth are the operators, by their names without version, that both of two plans are for.
func inBoth(plans [2]*v1alpha1.InstallPlan) map[string]bool {
	both := map[string]bool{}
	for _, csv := range plans[0].Spec.ClusterServiceVersionNames {
		name := operatorName(csv)
		if slices.ContainsFunc(plans[1].Spec.ClusterServiceVersionNames, func(other string) bool { return operatorName(other) == name }) {
			both[name] = true
		}
	}
	return both
}

// operatorName is the name of a ClusterServiceVersion without its version, as in etcdoperator.v0.9.4.
func operatorName(csv string) string {
	name, _, _ := strings.Cut(csv, ".")
	return name
}

// steps are the objects of the steps of a plan, of some operators if any are given. Which ClusterServiceVersion owns them does not count.
func (p Planner) steps(ctx context.Context, plan *v1alpha1.InstallPlan, of map[string]bool) ([]*unstructured.Unstructured, error) {
	view := ViewPlan(plan)
	err := view.AddManifests(ctx, plan, (&arrivals{Planner: p}).recorded)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, o := range view.Operators {
		if len(of) > 0 && !of[operatorName(o.Name)] {
			continue
		}
		for _, s := range o.Steps {
			if content, ok := s.Object.(map[string]any); ok {
				u := &unstructured.Unstructured{Object: content}
				u.SetOwnerReferences(nil)
				all = append(all, u)
			}
		}
	}
	return all, nil
}

// powersOf are objects with the Deployments that are made for the ClusterServiceVersions among them, which say what they may do.
func powersOf(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	all := slices.Clone(objects)
	for _, u := range objects {
		if u.GetKind() != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if csv, err := operatorIn(u); err == nil {
			all = append(all, workloads(csv)...)
		}
	}
	return all
}
